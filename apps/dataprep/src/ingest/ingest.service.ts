import { MegaNestError, type FailedDocument, type IngestedDocument, type IngestProgress } from '#contracts';
import type { CallOptions } from '#messaging';
import type { Metrics } from '#service-kit';
import type { DocumentsRepository } from '#storage';
import type { ChunkingOptions } from '../chunking/chunk-document.js';
import type { DocumentLoader, LoadedDocument } from './document-loader.js';
import { writeDocument } from './document-writer.js';
import type { EmbeddingClient } from './embedding.client.js';
import { chunkingOf, ingestContext, type IngestContext } from './ingest-context.js';
import { sideBySide } from './side-by-side.js';
import type { IngestRequest, IngestSource, SourceReader } from './sources.js';

/** Concurrent documents of a request, and therefore documents in memory. */
const documentsAtOnce = 4;
/** The same limit for a request with small documents only. Their texts are embedded together. */
const smallDocumentsAtOnce = 32;
const smallDocumentBytes = 64 * 1024;

/** Sources of a request, and their outcomes in the same order. */
interface Batch {
  index: number;
  sources: readonly IngestSource[];
  outcomes: (IngestedDocument | MegaNestError)[];
}

/** Options of an ingest: `signal` stops the work, and the other options are passed on to its calls. */
export type IngestCall = CallOptions & { signal: AbortSignal; deadline: number };

export interface IngestParts {
  sources: SourceReader;
  loader: DocumentLoader;
  embedding: EmbeddingClient;
  documents: Pick<DocumentsRepository, 'replaceDocument'>;
}

/**
 * Ingests documents, a few concurrently. Each document is fetched, read, split and embedded, and then replaces the
 * stored document of the same name in one step. A document that cannot be read does not stop the other documents.
 */
export class IngestService {
  constructor(
    private readonly parts: IngestParts,
    private readonly chunkingDefaults: ChunkingOptions,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Streams progress: the stages of a file come in order, and their counts only grow. The last event is `done` and
   * contains the documents. Leaving the loop stops the work. Errors: invalid_request, unsupported_file,
   * forbidden_url, unreachable_url, payload_too_large, service_unavailable, cancelled, deadline_exceeded.
   */
  async *ingest(request: IngestRequest, call: IngestCall): AsyncGenerator<IngestProgress, void, void> {
    const measured = this.metrics.start('ingest');
    const limit = AbortSignal.timeout(Math.max(0, call.deadline - Date.now()));
    let outcome: 'ok' | 'error' | 'cancelled' = 'cancelled';
    try {
      yield* this.#run(request, { ...call, signal: AbortSignal.any([call.signal, limit]) });
      outcome = 'ok';
    } catch (error) {
      if (call.signal.aborted) throw new MegaNestError('cancelled', { cause: error });
      outcome = 'error';
      throw limit.aborted ? tooLate(error) : error;
    } finally {
      measured.end(outcome);
    }
  }

  /** Checks a request without reading its sources. Errors: invalid_request. */
  check(request: IngestRequest): void {
    this.parts.sources.sourcesOf(request);
    chunkingOf(request, this.chunkingDefaults);
  }

  async *#run(request: IngestRequest, call: IngestCall): AsyncGenerator<IngestProgress, void, void> {
    const sources = this.parts.sources.sourcesOf(request);
    const { embedding } = this.parts;
    const model = await embedding.describe(call);
    const context = ingestContext(request, this.chunkingDefaults, { model, embedder: embedding.open(call) });
    const outcomes: (IngestedDocument | MegaNestError)[] = [];
    const work = (index: number, signal: AbortSignal) =>
      this.#ingestOne({ index, sources, outcomes }, context, { ...call, signal });
    const areSmall = sources.every(({ bytes = Infinity }) => bytes <= smallDocumentBytes);
    const width = areSmall ? smallDocumentsAtOnce : documentsAtOnce;
    yield* sideBySide(sources.keys(), { width, signal: call.signal }, work);
    const documents = outcomes.flatMap((outcome) => (outcome instanceof MegaNestError ? [] : [outcome]));
    const first = outcomes.find((outcome) => outcome instanceof MegaNestError);
    if (first && documents.length === 0) throw first;
    const failed = outcomes.flatMap((outcome, index) => failureOf(outcome, sources[index]?.filename ?? ''));
    const done = { stage: 'done' as const, filename: sources.at(-1)?.filename ?? '' };
    const counts = { completed: documents.length, total: sources.length };
    yield { ...done, ...counts, documents, ...(failed.length > 0 && { failed }) };
  }

  /** Ingests one document and stores its outcome. Errors: errors that would also stop the other documents. */
  async *#ingestOne(
    { index, sources, outcomes }: Batch,
    context: IngestContext,
    call: IngestCall,
  ): AsyncGenerator<IngestProgress, void, void> {
    const source = sources[index];
    if (!source) return;
    yield { stage: 'reading', filename: source.filename, completed: index, total: sources.length };
    try {
      const loaded = yield* this.#load(source, context, call);
      outcomes[index] = yield* writeDocument(this.parts.documents, loaded, context, call);
    } catch (error) {
      if (!isOfDocument(error, call.signal)) throw error;
      outcomes[index] = error;
    }
  }

  async *#load(
    source: IngestSource,
    context: IngestContext,
    call: IngestCall,
  ): AsyncGenerator<IngestProgress, LoadedDocument, void> {
    const { filename } = source;
    const document = await this.parts.loader.load(source, context, call.signal);
    const { content } = document;
    // The number of chunks of a text in sections is not known yet.
    const chunks =
      'prepared' in content
        ? content.prepared.chunks.length
        : 'unchanged' in content
          ? content.unchanged.chunks
          : 0;
    yield { stage: 'chunking', filename, completed: chunks, total: chunks };
    return document;
  }
}

/** The failure of a document with its reason; empty if the document was stored. */
function failureOf(outcome: IngestedDocument | MegaNestError, filename: string): FailedDocument[] {
  if (!(outcome instanceof MegaNestError)) return [];
  const { code, message, param } = outcome;
  return [{ filename, error: { code, message, param } }];
}

/** True if the document is the cause of an error. Any other error would also stop the other documents. */
function isOfDocument(error: unknown, signal: AbortSignal): error is MegaNestError {
  return !signal.aborted && error instanceof MegaNestError && error.status < 499 && error.status !== 429;
}

function tooLate(cause: unknown): MegaNestError {
  const detail = '; send async=true to run a large ingest in the background';
  return new MegaNestError('deadline_exceeded', { detail, cause });
}
