import { memo, type ReactElement } from 'react';
import { call } from '../api/connection';
import { queryClient, type ListedDocument } from '../api/queries';
import { dateText, numberText, sizeText, useText } from '../i18n/text';
import { IconTrash } from '../shared/icons';
import { hrefOf } from '../shared/router';
import { actWithUndo } from '../shared/toast';
import { Stored } from '../stored';

/** Documents that are gone for the user, while their deletion can still be taken back. */
export const hidden = new Stored<string[]>('meganest-deleting-documents', [], window.sessionStorage);

/**
 * A document in the list. Its link and its button are plain elements: several rows come into view in each frame of
 * scrolling, and a component of the library costs more than the whole row does.
 */
export const DocumentRow = memo(function DocumentRow({
  document,
}: {
  document: ListedDocument;
}): ReactElement {
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
          onClick={() => remove(document)}
        >
          <IconTrash size={16} />
        </button>
      </span>
    </div>
  );

  function remove(gone: ListedDocument): void {
    hidden.update((ids) => [...ids, gone.id]);
    const show = () => hidden.update((ids) => ids.filter((other) => other !== gone.id));
    actWithUndo(t('deleted', { name: gone.name }), () => deleteDocument(gone).then(show), show);
  }
});

async function deleteDocument({ id, collection }: ListedDocument): Promise<void> {
  await call('/dataprep/delete', { file_path: id, collection }, { keepalive: true });
  await queryClient.invalidateQueries({ queryKey: ['documents'] });
  await queryClient.invalidateQueries({ queryKey: ['collections'] });
}
