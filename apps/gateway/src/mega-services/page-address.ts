import type { RetrievedDocument } from '#platform/contracts';

/**
 * Adds the address of each passage in the page, for citations: `https://ai.example/#/documents/ID?passage=3`. A file of
 * the API has the address of its content. A passage without a document has no address.
 */
export function withAddresses(
  documents: readonly RetrievedDocument[],
  origin: string | undefined,
): RetrievedDocument[] {
  if (origin === undefined) return [...documents];
  return documents.map((document) => {
    const path = pathOf(document);
    if (path === undefined) return document;
    return { ...document, metadata: { ...document.metadata, page_url: `${origin}${path}` } };
  });
}

function pathOf({ metadata }: RetrievedDocument): string | undefined {
  const { document_id: id, chunk_index: index } = metadata;
  // A file that only the request contains has no page.
  if (typeof id !== 'string' || id === '' || id.startsWith('attached-')) return undefined;
  if (id.startsWith('file-')) return `/v1/files/${encodeURIComponent(id)}/content`;
  return `/#/documents/${encodeURIComponent(id)}${typeof index === 'number' ? `?passage=${index}` : ''}`;
}
