import type {
  DocumentChunks,
  ingest,
  IngestJob,
  IngestProgress,
  ParsedRequestOf,
  StoredDocument,
} from '#contracts';
import type { CallOptions } from '#messaging';

/** Which documents a list holds. */
export interface ListedDocuments {
  collection?: string;
  /** Part of a file name, in any case. */
  search?: string;
  offset?: number;
  limit?: number;
}

export type IngestRequest = ParsedRequestOf<typeof ingest>;

/**
 * What the HTTP API of data preparation stands on: in the dataprep service its own classes, in the gateway calls over
 * NATS. Also the injection token. Errors are those of the methods in #contracts.
 */
export abstract class Dataprep {
  /** Streams progress; the last event holds the documents. */
  abstract ingest(
    request: IngestRequest,
    call: CallOptions & { signal: AbortSignal; deadline: number },
  ): AsyncIterable<IngestProgress>;
  /** Starts the same in the background; the job removes the request's files when it has ended. */
  abstract startJob(request: IngestRequest): Promise<IngestJob>;
  abstract findJob(id: string): Promise<IngestJob>;
  abstract cancelJob(id: string): Promise<IngestJob>;
  abstract pauseJob(id: string): Promise<IngestJob>;
  abstract resumeJob(id: string): Promise<IngestJob>;
  /** Newest first; every document that fits where there is no limit. */
  abstract list(which: ListedDocuments): Promise<StoredDocument[]>;
  /** Chunks of a document from a position on. */
  abstract readChunks(id: string, from: number, limit: number): Promise<DocumentChunks>;
  /** By file name, link, id or `all`; answers how many documents went. */
  abstract delete(filePath: string, collection?: string): Promise<number>;
  abstract collections(): Promise<string[]>;
}
