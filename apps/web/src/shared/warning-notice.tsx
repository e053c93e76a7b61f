import { Anchor } from '@mantine/core';
import type { ReactElement } from 'react';
import { useHealth } from '../api/health';
import { useText } from '../i18n/text';
import { Stored, useStored } from '../stored';
import { IconButton } from './components';
import { IconAlertTriangle, IconX } from './icons';
import { hrefOf } from './router';

/** Interval in milliseconds of the health report. Each report asks all services. */
const lookMs = 60_000;

/** True after the notice was dismissed, until the tab closes. */
const dismissed = new Stored<boolean>('meganest-warnings-dismissed', false, window.sessionStorage);

/** A line that says that services have warnings, with a link to them and a button that dismisses it. */
export function WarningNotice(): ReactElement {
  const t = useText();
  const { data } = useHealth(lookMs);
  const gone = useStored(dismissed);
  const isShown = !gone && (data?.warnings ?? []).length > 0;
  // Screen readers read what appears in an element that was there before.
  return (
    <div role="status">
      {isShown && (
        <div className="notice">
          <IconAlertTriangle size={18} aria-hidden />
          <span>
            {t('warningNotice')}{' '}
            <Anchor href={hrefOf({ page: 'system' })} size="sm" c="inherit">
              {t('warningReason')}
            </Anchor>
          </span>
          <IconButton size="sm" label={t('dismissNotice')} onClick={() => dismissed.set(true)}>
            <IconX size={16} />
          </IconButton>
        </div>
      )}
    </div>
  );
}
