import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBook2, IconFileText } from '../shared/icons';
import type { ReactElement } from 'react';
import type { Opened } from '../documents/document-view';
import { numberText, useText } from '../i18n/text';
import { citedFiles, type Passage, type Turn } from './turns';

/** The documents that an answer names, and on request every passage that was searched, with its score. */
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
      {citedFiles(turn).map(({ documentId, filename }) => (
        <Button
          key={documentId}
          size="compact-xs"
          variant="default"
          leftSection={<IconFileText size={13} />}
          onClick={() =>
            open(passages.find((passage) => passage.documentId === documentId) ?? { documentId, filename })
          }
        >
          {filename}
        </Button>
      ))}
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
        <Stack component="ol" gap="md" p={0} m={0}>
          {passages.map((passage, index) => (
            <li key={`${passage.documentId}-${passage.index ?? index}`} className="plain">
              <Group gap="xs">
                <Badge variant={answer.includes(`[${index + 1}]`) ? 'filled' : 'default'}>{index + 1}</Badge>
                <Button
                  size="compact-sm"
                  variant="subtle"
                  onClick={() => {
                    list.close();
                    open(passage);
                  }}
                >
                  {passage.filename}
                </Button>
                <Text size="xs" c="dimmed">
                  {t('score', { score: numberText(passage.score, 3) })}
                </Text>
                {passage.page !== undefined && (
                  <Text size="xs" c="dimmed">
                    {t('page', { page: passage.page })}
                  </Text>
                )}
              </Group>
              {passage.heading && (
                <Text size="xs" c="dimmed">
                  {passage.heading}
                </Text>
              )}
              <Text size="sm" className="passage" lineClamp={6}>
                {passage.text}
              </Text>
            </li>
          ))}
        </Stack>
      </Modal>
    </>
  );
}
