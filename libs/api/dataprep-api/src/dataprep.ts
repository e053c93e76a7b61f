import type {
  DocumentChunks,
  ingest,
  IngestJob,
  IngestProgress,
  OriginalFile,
  ParsedRequestOf,
  StoredDocument,
  ReembeddingState,
} from '#platform/contracts';
import type { CallOptions } from '#platform/messaging';

/** Selects the documents of a list. */
export interface ListedDocuments {
  collection?: string;
  /** Part of a file name; upper and lower case are equal. */
  search?: string;
  offset?: number;
  limit?: number;
}

export type IngestRequest = ParsedRequestOf<typeof ingest>;

/** Ingests in the background. */
export interface DataprepJobs {
  /** The job removes the request's files when it has ended. */
  start(request: IngestRequest): Promise<IngestJob>;
  find(id: string): Promise<IngestJob>;
  cancel(id: string): Promise<IngestJob>;
  pause(id: string): Promise<IngestJob>;
  resume(id: string): Promise<IngestJob>;
}

/** Embeds documents of other embedding models again, in the background. */
export interface DataprepReembedding {
  start(): Promise<ReembeddingState>;
  state(): Promise<ReembeddingState>;
}

/**
 * Data preparation behind the HTTP API: classes of the dataprep service there, calls over NATS in the gateway. Also the
 * injection token. Errors: the errors of the methods in #contracts.
 */
export abstract class Dataprep {
  /** Streams progress; the last event contains the documents. */
  abstract ingest(
    request: IngestRequest,
    call: CallOptions & { signal: AbortSignal; deadline: number },
  ): AsyncIterable<IngestProgress>;
  abstract readonly jobs: DataprepJobs;
  abstract readonly reembedding: DataprepReembedding;
  /** Lists documents, newest first; without a limit, all documents that match. */
  abstract list(which: ListedDocuments): Promise<StoredDocument[]>;
  /** Reads chunks of a document, starting at a position. */
  abstract readChunks(id: string, from: number, limit: number): Promise<DocumentChunks>;
  /** Reads a piece of the file that a document was read from. */
  abstract readOriginal(id: string, start: number): Promise<OriginalFile>;
  /** Deletes documents by file name, link, id or `all`. Returns the number of deleted documents. */
  abstract delete(filePath: string, collection?: string): Promise<number>;
  abstract collections(): Promise<string[]>;
}
