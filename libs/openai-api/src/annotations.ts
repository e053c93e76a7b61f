import { pageOfQuote, type Citation, type RetrievedDocument } from '#contracts';

/** OpenAI's `url_citation`, with the passage that it points to. */
export interface CitationAnnotation {
  type: 'url_citation';
  url_citation: {
    start_index: number;
    end_index: number;
    title: string;
    url: string;
    /** Beyond OpenAI's fields: where in which document the quote stands. */
    document_id?: string;
    filename?: string;
    /** Of a paged document. */
    page?: number;
    chunk_id: string;
    quote: string;
  };
}

/** Resolves citations to the documents that the answer was grounded on; one without its document is dropped. */
export function citationAnnotations(
  citations: readonly Citation[],
  documents: readonly RetrievedDocument[],
): CitationAnnotation[] {
  const byId = new Map(documents.map((document) => [document.id, document]));
  return citations.flatMap((citation) => {
    const document = byId.get(citation.documentId);
    return document ? [annotation(citation, document)] : [];
  });
}

function annotation(citation: Citation, document: RetrievedDocument): CitationAnnotation {
  const field = (name: string) => {
    const value = document.metadata[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const documentId = field('document_id');
  const page = pageOfQuote(document, citation.quote);
  return {
    type: 'url_citation',
    url_citation: {
      start_index: citation.startIndex,
      end_index: citation.endIndex,
      title: field('title') ?? field('heading') ?? field('filename') ?? document.id,
      url: field('source') ?? `urn:meganest:document:${documentId ?? document.id}`,
      document_id: documentId,
      filename: field('filename'),
      ...(page !== undefined && { page }),
      chunk_id: document.id,
      quote: citation.quote,
    },
  };
}
