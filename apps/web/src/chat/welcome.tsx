import { Anchor, SimpleGrid, Text, Title, UnstyledButton } from '@mantine/core';
import type { ReactElement } from 'react';
import { useDocuments } from '../api/queries';
import { hrefOf } from '../shared/router';
import { useText, type Key } from '../i18n/text';

/** Questions that the documents answer which MegaNest reads on its first start. */
const samples: readonly Key[] = ['sampleDies', 'sampleMegaService', 'sampleScale', 'sampleBackup'];

/** What a new conversation shows: questions to try, or the way to the first document. */
export function Welcome({ ask }: { ask: (question: string) => void }): ReactElement {
  const t = useText();
  const { data, isSuccess } = useDocuments(null, '');
  const documents = data?.pages[0] ?? [];
  const hasSamples = documents.some(({ name }) => name === 'operations.md');
  return (
    <div className="scroll">
      <div className="column welcome">
        <img src="./favicon.svg" alt="" width={56} height={56} />
        <Title order={2} mt="md">
          {t('welcome')}
        </Title>
        <Text c="dimmed" mt={4} mb="xl">
          {isSuccess && documents.length === 0 ? t('welcomeEmpty') : t('welcomeText')}{' '}
          <Anchor href={hrefOf({ page: 'documents' })}>{t('addDocuments')}</Anchor>
        </Text>
        {hasSamples && (
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {samples.map((sample) => (
              <UnstyledButton key={sample} className="sample" onClick={() => ask(t(sample))}>
                {t(sample)}
              </UnstyledButton>
            ))}
          </SimpleGrid>
        )}
      </div>
    </div>
  );
}
