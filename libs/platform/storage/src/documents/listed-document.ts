import type { ReadingReport, StoredDocument } from '#platform/contracts';

/** A document as a list selects it. */
export type StoredDocumentRow = Omit<StoredDocument, 'createdAt'> & {
  createdAt: Date;
  reading?: ReadingReport;
};

/** The columns of a {@link StoredDocumentRow}; `reading` is selected for one document. */
export const listedColumns = `id, filename, source, collection, chunk_count AS chunks, bytes::float8 AS bytes,
  created_at AS "createdAt", original_bytes::float8 AS "originalBytes", jsonb_array_length(COALESCE(reading->'warnings', '[]')) AS "warningCount"`;

/** Filters of a list of documents; all are optional. */
export interface DocumentPage {
  collection?: string;
  /** Part of a file name; the case is ignored. */
  search?: string;
  offset?: number;
  limit?: number;
}

export function toStoredDocument({
  reading,
  warningCount = 0,
  originalBytes,
  ...row
}: StoredDocumentRow): StoredDocument {
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    ...(typeof originalBytes === 'number' && { originalBytes }),
    ...(warningCount > 0 && { warningCount }),
    ...reading,
  };
}

export interface DocumentCounts {
  documents: number;
  chunks: number;
}
