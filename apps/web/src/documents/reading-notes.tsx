import { Alert, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { ListedDocument } from '../api/queries';
import type { Key } from '../i18n/text';
import { useText } from '../i18n/text';
import { IconAlertTriangle } from '../shared/icons';

/** What was read of a document, in the order in which it is shown. */
const counted = [
  'files',
  'mails',
  'pages',
  'ocrPages',
  'sheets',
  'tables',
  'attachments',
  'pictures',
] as const;

const nothingRead: NonNullable<ListedDocument['read']> = {};
const withoutWarnings: NonNullable<ListedDocument['warnings']> = [];

/** What was read of a document, and the parts that were not read, as the service writes them, in English. */
export function ReadingNotes({
  read = nothingRead,
  warnings = withoutWarnings,
}: Pick<ListedDocument, 'read' | 'warnings'>): ReactElement | null {
  const t = useText();
  const parts = counted
    .filter((name) => Number(read[name] ?? 0) > 0)
    .map((name) => t(`read-${name}` satisfies Key, { count: Number(read[name]) }));
  if (typeof read['encoding'] === 'string') parts.push(t('read-encoding', { name: read['encoding'] }));
  if (parts.length === 0 && warnings.length === 0) return null;
  return (
    <section className="reading-notes" aria-label={t('readFrom', { parts: parts.join(', ') })}>
      {parts.length > 0 && (
        <Text size="xs" c="dimmed">
          {t('readFrom', { parts: parts.join(', ') })}
        </Text>
      )}
      {warnings.length > 0 && (
        <Alert
          role="status"
          variant="light"
          color="yellow"
          mt={4}
          p="xs"
          title={t('readingWarnings', { count: warnings.length })}
          icon={<IconAlertTriangle />}
        >
          <ul>
            {warnings.map(({ message }, at) => (
              <li key={at} lang="en">
                {message}
              </li>
            ))}
          </ul>
        </Alert>
      )}
    </section>
  );
}
