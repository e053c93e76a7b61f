import { pageOfQuote, type Citation, type RetrievedDocument } from '#contracts';
import type { FileCitation, FileSearchResult } from './output-items.js';

/** OpenAI's limits of a file's attributes. */
const mostAttributes = 16;
const longestAttribute = 512;

/** A retrieved passage as a result of a file search; the file is the document that the passage was cut from. */
export function fileSearchResult(document: RetrievedDocument): FileSearchResult {
  const { text, score } = document;
  return { ...fileOf(document), text, score, attributes: attributesOf(document) };
}

/** Citations as annotations; one whose passage is not among the documents is dropped: it would point nowhere. */
export function fileCitations(
  citations: readonly Citation[],
  documents: readonly RetrievedDocument[],
): FileCitation[] {
  const byId = new Map(documents.map((document) => [document.id, document]));
  return citations.flatMap(({ documentId, endIndex, quote }): FileCitation[] => {
    const document = byId.get(documentId);
    if (!document) return [];
    const page = pageOfQuote(document, quote);
    return [
      {
        type: 'file_citation',
        ...fileOf(document),
        index: endIndex,
        ...(page !== undefined && { page }),
      },
    ];
  });
}

function fileOf({ id, metadata }: RetrievedDocument): { file_id: string; filename: string } {
  const fileId = textOf(metadata['document_id']) ?? id;
  return { file_id: fileId, filename: textOf(metadata['filename']) ?? textOf(metadata['source']) ?? fileId };
}

/** What OpenAI allows as attributes: strings, numbers and booleans, and the id of the passage itself. */
function attributesOf({ id, metadata }: RetrievedDocument): FileSearchResult['attributes'] {
  const attributes: FileSearchResult['attributes'] = { chunk_id: id };
  for (const [name, value] of Object.entries(metadata)) {
    if (Object.keys(attributes).length === mostAttributes) break;
    if (typeof value === 'string') attributes[name] = value.slice(0, longestAttribute);
    else if (typeof value === 'number' || typeof value === 'boolean') attributes[name] = value;
  }
  return attributes;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
