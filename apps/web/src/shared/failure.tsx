import { Alert, Button, type AlertProps } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import { messageOf } from '../api/connection';
import { useText } from '../i18n/text';

/** What did not work, in words, and a way to try again. */
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
  /** Whether it cannot be tried again now. */
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
