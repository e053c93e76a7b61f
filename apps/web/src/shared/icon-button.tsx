import { ActionIcon, Tooltip, type ActionIconProps } from '@mantine/core';
import type { ComponentProps, ReactElement } from 'react';

type Props = ActionIconProps &
  Omit<ComponentProps<'button'>, keyof ActionIconProps> & {
    /** Its name for screen readers, which pointers show too. */
    label: string;
  };

/** A button that is an icon. */
export function IconButton({ label, ...others }: Props): ReactElement {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} {...others} />
    </Tooltip>
  );
}
