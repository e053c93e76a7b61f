import {
  Alert,
  Button,
  ActionIcon,
  Tooltip,
  Title,
  type AlertProps,
  type ActionIconProps,
} from '@mantine/core';
import {
  createContext,
  useContext,
  useEffect,
  type ComponentProps,
  type ReactElement,
  type ReactNode,
} from 'react';
import { messageOf } from '../api/connection';
import { useText } from '../i18n/text';

/** An error message with a button to retry. */
export function Failure({
  error,
  title,
  retry,
  disabled,
  ...others
}: Omit<AlertProps, 'title'> & {
  error: unknown;
  title?: ReactNode;
  retry?: () => void;
  /** Whether the retry is disabled. */
  disabled?: boolean;
}): ReactElement {
  const t = useText();
  return (
    <Alert color="red" role="alert" title={title ?? t('failed')} {...others}>
      {messageOf(error)}
      {retry && (
        <Button
          mt="xs"
          size="xs"
          variant="light"
          color="red"
          display="block"
          disabled={disabled}
          onClick={retry}
        >
          {t('retry')}
        </Button>
      )}
    </Alert>
  );
}

type Props = ActionIconProps &
  Omit<ComponentProps<'button'>, keyof ActionIconProps> & {
    /** Name for screen readers, also shown as a tooltip. */
    label: string;
  };

/** A button with an icon. */
export function IconButton({ label, ...others }: Props): ReactElement {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} {...others} />
    </Tooltip>
  );
}

/** The button that opens the menu, on narrow screens. */
export const MenuButton = createContext<ReactElement | null>(null);

/** The bar at the top of a page with its title, which is also the title of the browser's tab, and its controls. */
export function PageBar({ title, children }: { title: string; children?: ReactNode }): ReactElement {
  useEffect(() => {
    document.title = `${title} – MegaNest`;
  }, [title]);
  return (
    <header className="bar">
      {useContext(MenuButton)}
      <Title order={1} size="h4" lineClamp={1}>
        {title}
      </Title>
      {children}
    </header>
  );
}
