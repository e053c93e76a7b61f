import { Select, TextInput, Text, VisuallyHidden } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useState, useEffect, useRef, memo, type ReactElement } from 'react';
import { VList, type VListHandle } from 'virtua';
import { call } from '../api/connection';
import { useCollections, useDocuments, queryClient, type ListedDocument } from '../api/queries';
import { useText, dateText, numberText, sizeText } from '../i18n/text';
import { Failure, PageBar } from '../shared/components';
import { IconAlertTriangle, IconSearch, IconTrash } from '../shared/icons';
import { navigate, hrefOf } from '../shared/router';
import { deleteWithUndo, hiddenIds } from '../shared/toast';
import { WarningNotice } from '../shared/warning-notice';
import { useStored } from '../stored';
import { DocumentView } from './document-view';
import { UploadArea } from './upload-area';
import { resumeUploads } from './uploads';

resumeUploads();

interface DocumentsPageProps {
  documentId: string | undefined;
  passage: number | undefined;
}

/** The page of the documents: uploads, the list, and an opened document. */
export default function DocumentsPage({ documentId, passage }: DocumentsPageProps): ReactElement {
  const t = useText();
  const [collection, setCollection] = useState<string | null>(null);
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search.trim(), 200);
  const collections = useCollections().data ?? [];
  const { data, isError, error, refetch, isSuccess, hasNextPage, fetchNextPage } = useDocuments(
    collection,
    wanted,
  );
  const documents = useMemo(() => unique(data?.pages.flat() ?? []), [data]);
  const empty = wanted || collection ? t('nothingFound') : t('noDocuments');
  const atEnd = () => void (hasNextPage && fetchNextPage({ cancelRefetch: false }));
  const opened = documents.find(({ id }) => id === documentId);
  return (
    <>
      <PageBar title={t('documents')}>
        <TextInput
          type="search"
          size="sm"
          leftSection={<IconSearch size={16} />}
          aria-label={t('searchDocuments')}
          placeholder={t('searchDocuments')}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Select
          className="model"
          size="sm"
          clearable
          aria-label={t('collection')}
          placeholder={t('allCollections')}
          data={collections}
          value={collection}
          onChange={setCollection}
        />
      </PageBar>
      <WarningNotice />
      <div className="body documents">
        <div className="wide">
          <UploadArea />
          {isError && <Failure mt="md" error={error} retry={() => void refetch()} />}
        </div>
        {isSuccess && <DocumentList documents={documents} empty={empty} atEnd={atEnd} />}
      </div>
      {documentId && (
        <DocumentView
          opened={{
            documentId,
            filename: opened?.name ?? '',
            ...(passage !== undefined && { index: passage }),
          }}
          onClose={() => navigate({ page: 'documents' })}
        />
      )}
    </>
  );
}

/** Removes duplicates. Pages are defined by position, so that a new document moves others onto the next page. */
function unique(documents: readonly ListedDocument[]): ListedDocument[] {
  return [...new Map(documents.map((document) => [document.id, document])).values()];
}

/** Number of rows before the end at which the next page is read: two seconds of fast scrolling. */
const ahead = 160;
/** Height of a row in pixels. */
const rowHeight = 48;
/** Pixels of rendered rows around the visible rows, so that fast scrolling does not show gaps. */
const aroundPixels = 400;

/** A table of the documents. Only visible rows are rendered. */
export function DocumentList({
  documents,
  empty,
  atEnd,
}: {
  documents: readonly ListedDocument[];
  /** Text for an empty list. */
  empty: string;
  atEnd: () => void;
}): ReactElement {
  const t = useText();
  const gone = useStored(hidden);
  const list = useRef<VListHandle>(null);
  const shown = useMemo(() => documents.filter(({ id }) => !gone.includes(id)), [documents, gone]);
  const readAhead = () => {
    const { scrollOffset = 0, viewportSize = 0 } = list.current ?? {};
    if ((scrollOffset + viewportSize) / rowHeight + ahead > shown.length) atEnd();
  };
  // A short list does not scroll, so that this also runs after each render.
  useEffect(readAhead);
  if (shown.length === 0)
    return (
      <Text className="wide" c="dimmed" ta="center" role="status">
        {empty}
      </Text>
    );
  return (
    <div className="wide table" role="table" aria-label={t('documents')} aria-rowcount={shown.length}>
      <Heads />
      <VList
        ref={list}
        className="rows"
        role="rowgroup"
        data={shown}
        itemSize={rowHeight}
        bufferSize={aroundPixels}
        onScroll={readAhead}
        tabIndex={0}
      >
        {(document) => <DocumentRow key={document.id} document={document} />}
      </VList>
    </div>
  );
}

function Heads(): ReactElement {
  const t = useText();
  const heads = [
    { key: 'name' },
    { key: 'collection', className: 'optional' },
    { key: 'size' },
    { key: 'chunks', className: 'optional' },
    { key: 'state', className: 'optional' },
    { key: 'added', className: 'optional' },
  ] as const;
  return (
    <div className="row heads" role="row">
      {heads.map(({ key, ...others }) => (
        <span key={key} role="columnheader" {...others}>
          {t(key)}
        </span>
      ))}
      <span role="columnheader">
        <VisuallyHidden>{t('actions')}</VisuallyHidden>
      </span>
    </div>
  );
}

const hidden = hiddenIds('meganest-deleting-documents');

/**
 * A document in the list. Its link and its button are plain elements, because a scroll frame may render several rows,
 * and a component of the library takes longer than the whole row.
 */
const DocumentRow = memo(function DocumentRow({ document }: { document: ListedDocument }): ReactElement {
  const t = useText();
  const { id, name, collection, bytes, chunks, created_at, warningCount = 0 } = document;
  return (
    <div className="row" role="row">
      <span role="cell" className="name">
        <a className="row-link" href={hrefOf({ page: 'documents', id })} title={name}>
          {name}
        </a>
        {warningCount > 0 && <WarningMark count={warningCount} />}
      </span>
      <span role="cell" className="optional name">
        {collection}
      </span>
      <span role="cell">{sizeText(bytes)}</span>
      <span role="cell" className="optional">
        {numberText(chunks)}
      </span>
      <span role="cell" className="optional">
        {chunks > 0 ? t('document-ready') : t('document-empty')}
      </span>
      <span role="cell" className="optional">
        {dateText(created_at)}
      </span>
      <span role="cell">
        <button
          type="button"
          className="row-button"
          aria-label={t('deleteNamed', { name })}
          onClick={() => deleteWithUndo(hidden, document, () => deleteDocument(document))}
        >
          <IconTrash size={16} />
        </button>
      </span>
    </div>
  );
});

/** A sign beside a document of which something was not read. */
function WarningMark({ count }: { count: number }): ReactElement {
  const t = useText();
  const label = t('readingWarnings', { count });
  return (
    <span className="warning-mark" role="img" aria-label={label} title={label}>
      <IconAlertTriangle size={16} />
    </span>
  );
}

async function deleteDocument({ id, collection }: ListedDocument): Promise<void> {
  await call('/dataprep/delete', { file_path: id, collection }, { keepalive: true });
  await queryClient.invalidateQueries({ queryKey: ['documents'] });
  await queryClient.invalidateQueries({ queryKey: ['collections'] });
}
