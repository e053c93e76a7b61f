import { Alert, Drawer, Skeleton, Text } from '@mantine/core';
import { useLayoutEffect, useRef, type ReactElement } from 'react';
import { VList, type VListHandle } from 'virtua';
import { messageOf } from '../api/connection';
import { chunksPerPage, useChunks } from '../api/queries';
import { findQuote } from '../chat/quote';
import { useText } from '../i18n/text';
import { MarkedText } from './marked-text';

/** A document to show, at a passage where there is one. */
export interface Opened {
  documentId: string;
  filename: string;
  /** Position of the passage to begin with. */
  index?: number;
  /** The sentence to highlight in it; else all of it. */
  quote?: string;
}

/** A document with its chunks, opened at the passage, with what stands before and after it. */
export function DocumentView({ opened, onClose }: { opened: Opened; onClose: () => void }): ReactElement {
  const t = useText();
  const { documentId, filename, index = 0 } = opened;
  const first = useChunks(documentId, Math.floor(index / chunksPerPage));
  const list = useRef<VListHandle>(null);
  const chunks = first.data?.document.chunks ?? 0;
  useLayoutEffect(() => {
    if (chunks > 0) list.current?.scrollToIndex(index, { align: 'start', offset: -60 });
  }, [chunks, index]);
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={filename}
      closeButtonProps={{ 'aria-label': t('close') }}
      classNames={{ content: 'document', body: 'document-body' }}
    >
      {first.isError && (
        <Alert color="red" title={t('failed')}>
          {messageOf(first.error)}
        </Alert>
      )}
      {first.isLoading && <Skeleton height={300} />}
      {chunks > 0 && (
        <VList ref={list} tabIndex={0} role="document" aria-label={filename}>
          {Array.from({ length: chunks }, (_unused, position) => (
            <Chunk key={position} opened={opened} position={position} />
          ))}
        </VList>
      )}
    </Drawer>
  );
}

/** One chunk; its page is read when it comes into view. */
function Chunk({ opened, position }: { opened: Opened; position: number }): ReactElement {
  const t = useText();
  const { data } = useChunks(opened.documentId, Math.floor(position / chunksPerPage));
  const chunk = data?.chunks.find(({ index }) => index === position);
  if (!chunk) return <Skeleton height={120} mb="md" />;
  const cited = position === opened.index;
  const { page, heading } = chunk.metadata;
  const mark = cited && opened.quote ? findQuote(chunk.text, opened.quote) : undefined;
  const place = [
    typeof page === 'number' ? t('page', { page }) : '',
    typeof heading === 'string' ? heading : '',
  ];
  return (
    <section className="chunk" data-cited={cited || undefined}>
      <Text size="xs" c="dimmed" mb={4}>
        {[t('chunk', { number: position + 1 }), ...place].filter(Boolean).join(' · ')}
      </Text>
      <div className="passage">
        <MarkedText text={chunk.text} mark={mark} />
      </div>
    </section>
  );
}
