import { Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense, type ReactElement } from 'react';
import { IconButton, PageBar } from '../shared/components';
import { IconAdjustmentsHorizontal, IconDownload } from '../shared/icons';
import { useText } from '../i18n/text';
import { settings, useAnswerers, useModel } from './settings';
import { toMarkdown, type Turn } from './turns';

const ParameterDrawer = lazy(() => import('./parameter-drawer'));

/** The bar of the chat: the model or mega service, its parameters, and the export of the conversation. */
export function ChatBar({
  title,
  conversation,
  turns,
}: {
  title: string;
  conversation: string | undefined;
  turns: readonly Turn[];
}): ReactElement {
  const t = useText();
  const model = useModel();
  const { megaServices, models } = useAnswerers();
  const [opened, drawer] = useDisclosure(false);
  const groups = [
    { group: t('megaServices'), items: megaServices },
    { group: t('modelsAlone'), items: models },
  ];
  return (
    <PageBar title={title}>
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

/** Downloads a text as a file. */
function download(filename: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/markdown' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = filename.replaceAll(/[/\\:*?"<>|\p{Cc}]/gu, '-');
  link.click();
  URL.revokeObjectURL(url);
}
