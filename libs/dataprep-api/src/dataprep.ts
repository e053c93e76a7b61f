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

/** Ingests in the background. */
export interface DataprepJobs {
  /** The job removes the request's files when it has ended. */
  start(request: IngestRequest): Promise<IngestJob>;
  find(id: string): Promise<IngestJob>;
  cancel(id: string): Promise<IngestJob>;
  pause(id: string): Promise<IngestJob>;
  resume(id: string): Promise<IngestJob>;
}

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
  abstract readonly jobs: DataprepJobs;
  /** Newest first; every document that fits where there is no limit. */
  abstract list(which: ListedDocuments): Promise<StoredDocument[]>;
  /** Chunks of a document from a position on. */
  abstract readChunks(id: string, from: number, limit: number): Promise<DocumentChunks>;
  /** By file name, link, id or `all`; answers how many documents went. */
  abstract delete(filePath: string, collection?: string): Promise<number>;
  abstract collections(): Promise<string[]>;
}
