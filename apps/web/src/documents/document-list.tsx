import { Text, VisuallyHidden } from '@mantine/core';
import { useEffect, useMemo, useRef, memo, type ReactElement } from 'react';
import { VList, type VListHandle } from 'virtua';
import { call } from '../api/connection';
import { queryClient, type ListedDocument } from '../api/queries';
import { useText, dateText, numberText, sizeText } from '../i18n/text';
import { IconTrash } from '../shared/icons';
import { hrefOf } from '../shared/router';
import { deleteWithUndo, hiddenIds } from '../shared/toast';
import { useStored } from '../stored';

/** Rows ahead of the end at which the next page is read: two seconds of fast scrolling. */
const ahead = 160;
/** Height of a row in pixels. */
const rowHeight = 48;
/** Pixels of rows around those in view: scrolling does not wait for the page, which would show gaps. */
const aroundPixels = 400;

/** The documents as a table of which only the rows in view are in the page. */
export function DocumentList({
  documents,
  empty,
  atEnd,
}: {
  documents: readonly ListedDocument[];
  /** What is said in place of the rows where there are none. */
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
  // A list at its end does not scroll: what has come may be fewer rows than are wanted.
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
 * A document in the list. Its link and its button are plain elements: several rows come into view in each frame of
 * scrolling, and a component of the library costs more than the whole row does.
 */
const DocumentRow = memo(function DocumentRow({ document }: { document: ListedDocument }): ReactElement {
  const t = useText();
  const { id, name, collection, bytes, chunks, created_at } = document;
  return (
    <div className="row" role="row">
      <span role="cell" className="name">
        <a className="row-link" href={hrefOf({ page: 'documents', id })} title={name}>
          {name}
        </a>
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

async function deleteDocument({ id, collection }: ListedDocument): Promise<void> {
  await call('/dataprep/delete', { file_path: id, collection }, { keepalive: true });
  await queryClient.invalidateQueries({ queryKey: ['documents'] });
  await queryClient.invalidateQueries({ queryKey: ['collections'] });
}
