import { Drawer, Skeleton, Text } from '@mantine/core';
import { useLayoutEffect, useRef, type ReactElement } from 'react';
import { VList, type VListHandle } from 'virtua';
import { chunksPerPage, useChunks } from '../api/queries';
import { useText } from '../i18n/text';
import { Failure } from '../shared/components';
import type { Source } from '../shared/router';
import { findQuote, type Span } from './quote';
import { ReadingNotes } from './reading-notes';

/** A document to show, with the passage to open. */
export interface Opened extends Source {
  /** Vector stores that may contain the document, if it is a file of a conversation. */
  stores?: readonly string[];
}

/** Shows the chunks of a document, scrolled to a passage. */
export function DocumentView({ opened, onClose }: { opened: Opened; onClose: () => void }): ReactElement {
  const t = useText();
  const { index = 0, pageLabel, time } = opened;
  const page = pageLabel ?? opened.page;
  const first = useChunks(opened, Math.floor(index / chunksPerPage));
  // A document that is opened by its address may be on a later page of the list.
  const filename = opened.filename || (first.data?.document.name ?? '');
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
      title={[filename, page === undefined ? '' : t('page', { page }), time].filter(Boolean).join(', ')}
      closeButtonProps={{ 'aria-label': t('close') }}
      classNames={{ content: 'document', body: 'document-body' }}
    >
      {first.isError && <Failure error={first.error} retry={() => void first.refetch()} />}
      {first.isLoading && <Skeleton height={300} />}
      {first.data && <ReadingNotes {...first.data.document} />}
      {chunks > 0 && (
        <VList ref={list} className="rows" tabIndex={0} role="document" aria-label={filename}>
          {Array.from({ length: chunks }, (_unused, position) => (
            <Chunk key={position} opened={opened} position={position} />
          ))}
        </VList>
      )}
    </Drawer>
  );
}

/** One chunk. Its page of chunks is read when it becomes visible. */
function Chunk({ opened, position }: { opened: Opened; position: number }): ReactElement {
  const t = useText();
  const { data } = useChunks(opened, Math.floor(position / chunksPerPage));
  const chunk = data?.chunks.find(({ index }) => index === position);
  if (!chunk) return <Skeleton height={120} mb="md" />;
  const cited = position === opened.index;
  const { page = cited ? opened.page : undefined, time, heading } = chunk.metadata;
  const pageNames = (chunk.metadata['page_labels'] ?? {}) as Record<string, string>;
  const mark = cited && opened.quote ? findQuote(chunk.text, opened.quote) : undefined;
  const place = [
    typeof page === 'number' ? t('page', { page: pageNames[page] ?? page }) : '',
    typeof time === 'string' ? time : '',
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

/** A text with a highlighted part. */
export function MarkedText({ text, mark }: { text: string; mark: Span | undefined }): ReactElement {
  if (!mark) return <>{text}</>;
  return (
    <>
      {text.slice(0, mark.start)}
      <mark>{text.slice(mark.start, mark.end)}</mark>
      {text.slice(mark.end)}
    </>
  );
}
