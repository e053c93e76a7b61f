import { Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '../shared/icons';
import { useMemo, useState, type ReactElement } from 'react';
import { useCollections, useDocuments, type ListedDocument } from '../api/queries';
import { Failure, PageBar } from '../shared/components';
import { navigate } from '../shared/router';
import { useText } from '../i18n/text';
import { DocumentList } from './document-list';
import { DocumentView } from './document-view';
import { UploadArea } from './upload-area';
import { resumeUploads } from './uploads';

resumeUploads();

/** The documents: new ones, the list, and one of them with its chunks. */
export default function DocumentsPage({ documentId }: { documentId: string | undefined }): ReactElement {
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
      <div className="body documents">
        <div className="wide">
          <UploadArea />
          {isError && <Failure mt="md" error={error} retry={() => void refetch()} />}
        </div>
        {isSuccess && <DocumentList documents={documents} empty={empty} atEnd={atEnd} />}
      </div>
      {documentId && (
        <DocumentView
          opened={{ documentId, filename: opened?.name ?? '' }}
          onClose={() => navigate({ page: 'documents' })}
        />
      )}
    </>
  );
}

/** Pages are cut by position: a document that came meanwhile moves others onto the next page too. */
function unique(documents: readonly ListedDocument[]): ListedDocument[] {
  return [...new Map(documents.map((document) => [document.id, document])).values()];
}
