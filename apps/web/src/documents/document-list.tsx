import { ActionIcon, Anchor, Text, VisuallyHidden } from '@mantine/core';
import { IconTrash } from '../shared/icons';
import { useRef, type ReactElement } from 'react';
import { VList, type VListHandle } from 'virtua';
import { call } from '../api/connection';
import { queryClient, type ListedDocument } from '../api/queries';
import { hrefOf } from '../shared/router';
import { Stored, useStored } from '../stored';
import { actWithUndo } from '../shared/toast';
import { dateText, numberText, sizeText, useText } from '../i18n/text';

/** Documents that are gone for the user, while their deletion can still be taken back. */
const hidden = new Stored<string[]>('meganest-deleting-documents', [], window.sessionStorage);

/** Rows ahead of the end at which the next page is read. */
const ahead = 40;

/** The documents as a table of which only the rows in view are in the page. */
export function DocumentList({
  documents,
  atEnd,
}: {
  documents: readonly ListedDocument[];
  atEnd: () => void;
}): ReactElement {
  const t = useText();
  const gone = useStored(hidden);
  const list = useRef<VListHandle>(null);
  const shown = documents.filter(({ id }) => !gone.includes(id));
  const onScroll = (offset: number) => {
    const last = list.current?.findItemIndex(offset + (list.current.viewportSize ?? 0)) ?? 0;
    if (last + ahead > shown.length) atEnd();
  };
  return (
    <div className="wide table" role="table" aria-label={t('documents')} aria-rowcount={shown.length}>
      <div className="row" role="row">
        <Text role="columnheader" size="sm" fw={600}>
          {t('name')}
        </Text>
        <Text role="columnheader" size="sm" fw={600} className="optional">
          {t('collection')}
        </Text>
        <Text role="columnheader" size="sm" fw={600}>
          {t('size')}
        </Text>
        <Text role="columnheader" size="sm" fw={600} className="optional">
          {t('chunks')}
        </Text>
        <Text role="columnheader" size="sm" fw={600} className="optional">
          {t('added')}
        </Text>
        <span role="columnheader">
          <VisuallyHidden>{t('actions')}</VisuallyHidden>
        </span>
      </div>
      <VList ref={list} className="rows" role="rowgroup" onScroll={onScroll} tabIndex={0}>
        {shown.map((document) => (
          <Row key={document.id} document={document} />
        ))}
      </VList>
    </div>
  );
}

function Row({ document }: { document: ListedDocument }): ReactElement {
  const t = useText();
  const { id, name, collection, bytes, chunks, created_at } = document;
  const remove = () => {
    hidden.update((ids) => [...ids, id]);
    const show = () => hidden.update((ids) => ids.filter((other) => other !== id));
    actWithUndo(t('deleted', { name }), () => deleteDocument(document).then(show), show);
  };
  return (
    <div className="row" role="row">
      <span role="cell" className="name">
        <Anchor href={hrefOf({ page: 'documents', id })} title={name} size="sm">
          {name}
        </Anchor>
      </span>
      <span role="cell" className="optional name">
        {collection}
      </span>
      <span role="cell">{sizeText(bytes)}</span>
      <span role="cell" className="optional">
        {numberText(chunks)}
      </span>
      <span role="cell" className="optional">
        {dateText(created_at)}
      </span>
      <span role="cell">
        <ActionIcon variant="subtle" color="gray" aria-label={t('deleteNamed', { name })} onClick={remove}>
          <IconTrash size={16} />
        </ActionIcon>
      </span>
    </div>
  );
}

async function deleteDocument({ id, collection }: ListedDocument): Promise<void> {
  await call('/dataprep/delete', { file_path: id, collection }, { keepalive: true });
  await queryClient.invalidateQueries({ queryKey: ['documents'] });
  await queryClient.invalidateQueries({ queryKey: ['collections'] });
}
