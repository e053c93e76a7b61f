import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBook2, IconFileText } from '../../shared/icons';
import type { ReactElement } from 'react';
import type { Opened } from '../../documents/document-view';
import { numberText, useText } from '../../i18n/text';
import { citedFiles, queriesOf, type Passage, type Turn } from '../turns';

/** The documents that an answer cites, and on request the queries of the search and every passage with its score. */
export function Passages({
  turn,
  passages,
  answer,
  open,
}: {
  turn: Turn;
  passages: readonly Passage[];
  answer: string;
  open: (opened: Opened) => void;
}): ReactElement | null {
  const t = useText();
  const [opened, list] = useDisclosure(false);
  if (passages.length === 0) return null;
  return (
    <>
      <CitedFiles turn={turn} passages={passages} open={open} />
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        leftSection={<IconBook2 size={14} />}
        onClick={list.open}
      >
        {t('passages', { count: passages.length })}
      </Button>
      <Modal
        opened={opened}
        onClose={list.close}
        title={t('searched')}
        size="lg"
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Text size="sm" c="dimmed" mb="md">
          {t('searchedFor', { queries: queriesOf(turn).join(' · ') })}
        </Text>
        <Stack component="ol" gap="md" p={0} m={0}>
          {passages.map((passage, index) => (
            <Searched
              key={`${passage.documentId}-${passage.index ?? index}`}
              number={index + 1}
              passage={passage}
              cited={answer.includes(`[${index + 1}]`)}
              open={() => {
                list.close();
                open(passage);
              }}
            />
          ))}
        </Stack>
      </Modal>
    </>
  );
}

/** The documents that an answer cites. Each opens at its first cited passage. */
function CitedFiles({
  turn,
  passages,
  open,
}: {
  turn: Turn;
  passages: readonly Passage[];
  open: (opened: Opened) => void;
}): ReactElement[] {
  return citedFiles(turn).map((file) => (
    <Button
      key={file.documentId}
      size="compact-xs"
      variant="default"
      leftSection={<IconFileText size={13} />}
      onClick={() => open(passages.find(({ documentId }) => documentId === file.documentId) ?? file)}
    >
      {file.filename}
    </Button>
  ));
}

/** One passage of the search. */
function Searched({
  number,
  passage: { filename, score, page, time, heading, text },
  cited,
  open,
}: {
  number: number;
  passage: Passage;
  cited: boolean;
  open: () => void;
}): ReactElement {
  const t = useText();
  return (
    <li className="plain">
      <Group gap="xs">
        <Badge variant={cited ? 'filled' : 'default'}>{number}</Badge>
        <Button size="compact-sm" variant="subtle" onClick={open}>
          {filename}
        </Button>
        <Text size="xs" c="dimmed">
          {t('score', { score: numberText(score, 3) })}
        </Text>
        {page !== undefined && (
          <Text size="xs" c="dimmed">
            {t('page', { page })}
          </Text>
        )}
        {time !== undefined && (
          <Text size="xs" c="dimmed">
            {time}
          </Text>
        )}
      </Group>
      {heading && (
        <Text size="xs" c="dimmed">
          {heading}
        </Text>
      )}
      <Text size="sm" className="passage" lineClamp={6}>
        {text}
      </Text>
    </li>
  );
}
