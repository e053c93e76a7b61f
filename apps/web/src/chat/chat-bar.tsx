import { Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense, type ReactElement } from 'react';
import { IconButton } from '../shared/icon-button';
import { IconAdjustmentsHorizontal, IconDownload } from '../shared/icons';
import { PageBar } from '../shared/page-bar';
import { useText } from '../i18n/text';
import { download, toMarkdown } from './export-markdown';
import { settings, useAnswerers, useModel } from './settings';
import type { Turn } from './turns';

const ParameterDrawer = lazy(() => import('./parameter-drawer'));

/** The bar of the chat: what answers, its parameters, and the conversation as a file. */
export function ChatBar({
  title,
  conversation,
  turns,
  burger,
}: {
  title: string;
  conversation: string | undefined;
  turns: readonly Turn[];
  burger: ReactElement | null;
}): ReactElement {
  const t = useText();
  const model = useModel();
  const { megaServices, models } = useAnswerers();
  const [opened, drawer] = useDisclosure(false);
  const groups = [
    { group: t('megaServices'), items: megaServices.map(({ name }) => name) },
    { group: t('modelsAlone'), items: models.map(({ name }) => name) },
  ];
  return (
    <PageBar title={title} burger={burger}>
      <Select
        className="model"
        aria-label={t('answeredBy')}
        data={groups}
        value={model ?? null}
        allowDeselect={false}
        size="sm"
        maxDropdownHeight={420}
        onChange={(name) => name && settings.update((current) => ({ ...current, model: name }))}
      />
      <IconButton size="lg" label={t('parameters')} onClick={drawer.open}>
        <IconAdjustmentsHorizontal size={20} />
      </IconButton>
      {conversation && turns.length > 0 && (
        <IconButton
          size="lg"
          label={t('exportMarkdown')}
          onClick={() => download(`${title}.md`, toMarkdown(title, turns))}
        >
          <IconDownload size={20} />
        </IconButton>
      )}
      {opened && model && (
        <Suspense>
          <ParameterDrawer model={model} close={drawer.close} />
        </Suspense>
      )}
    </PageBar>
  );
}
