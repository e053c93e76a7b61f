import { MegaNestError, type IngestedDocument, type IngestProgress } from '#platform/contracts';
import { eventsOf } from '#platform/foundation';
import type { CallOptions } from '#platform/messaging';
import type { Metrics } from '#platform/service-kit';
import type { DocumentsRepository, OriginalsRepository } from '#platform/storage';
import type { ChunkingOptions } from '../chunking/chunk-document.js';
import type { DocumentLoader, LoadedDocument } from './document-loader.js';
import { writeDocument } from './document-writer.js';
import type { EmbeddingClient } from './embedding.client.js';
import { chunkingOf, ingestContext, type IngestContext } from './ingest-context.js';
import { logFailed, resultOf } from './ingest-result.js';
import { withOriginal } from './originals/keep-original.js';
import type { ReadingPart } from './prepare-document.js';
import { sideBySide } from './side-by-side.js';
import { isSmall, type IngestRequest, type IngestSource, type SourceReader } from './sources.js';

/** Concurrent documents of a request, and therefore documents in memory. */
const documentsAtOnce = 4;
/**
 * The same limit for a request with small documents only. Their texts are embedded together: while some documents are
 * stored and others read, the texts of the rest keep the embedding workers busy.
 */
const smallDocumentsAtOnce = 64;

/**
 * Options of an ingest: `signal` stops the work, `comeBackMs` is the wait for an unavailable embedding service, and the
 * other options are passed on to its calls.
 */
export type IngestCall = CallOptions & { signal: AbortSignal; deadline: number; comeBackMs?: number };

/** A request whose documents are ingested one by one. */
export interface OpenedIngest {
  sources: readonly IngestSource[];
  /**
   * Ingests the document at this position. Streams progress, and returns the outcome. Errors: errors that are not the
   * document's.
   */
  document(
    index: number,
    signal: AbortSignal,
  ): AsyncGenerator<IngestProgress, IngestedDocument | MegaNestError, void>;
}

export interface IngestParts {
  sources: SourceReader;
  loader: DocumentLoader;
  embedding: EmbeddingClient;
  documents: Pick<DocumentsRepository, 'replaceDocument'>;
  originals: Pick<OriginalsRepository, 'keep' | 'maxBytes'>;
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
    const measured = this.measure();
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

  /** Returns the sources of a request without reading them. Errors: invalid_request. */
  sourcesOf(request: IngestRequest): IngestSource[] {
    chunkingOf(request, this.chunkingDefaults);
    return this.parts.sources.sourcesOf(request);
  }

  /** Begins a measurement of an ingest. */
  measure(): ReturnType<Metrics['start']> {
    return this.metrics.start('ingest');
  }

  /** Prepares for the documents of a request. Errors: invalid_request, service_unavailable, cancelled. */
  async open(request: IngestRequest, call: IngestCall): Promise<OpenedIngest> {
    const sources = this.parts.sources.sourcesOf(request);
    const { embedding } = this.parts;
    const model = await embedding.describe(call);
    const context = ingestContext(request, this.chunkingDefaults, { model, embedder: embedding.open(call) });
    const document = (index: number, signal: AbortSignal) =>
      this.#ingestOne({ index, sources }, context, { ...call, signal });
    return { sources, document };
  }

  async *#run(request: IngestRequest, call: IngestCall): AsyncGenerator<IngestProgress, void, void> {
    const opened = await this.open(request, call);
    const { sources } = opened;
    const outcomes: (IngestedDocument | MegaNestError)[] = [];
    const work = async function* (index: number, signal: AbortSignal) {
      outcomes[index] = yield* opened.document(index, signal);
    };
    const width = sources.every(isSmall) ? smallDocumentsAtOnce : documentsAtOnce;
    yield* sideBySide(sources.keys(), { width, signal: call.signal }, work);
    yield resultOf(sources, outcomes);
  }

  /** Ingests one document and returns its outcome. Errors: errors that would also stop the other documents. */
  async *#ingestOne(
    { index, sources }: { index: number; sources: readonly IngestSource[] },
    context: IngestContext,
    call: IngestCall,
  ): AsyncGenerator<IngestProgress, IngestedDocument | MegaNestError, void> {
    const source = sources[index]!;
    const counts = { completed: index, total: sources.length };
    yield { stage: 'reading', filename: source.filename, ...counts };
    try {
      const loaded = yield* this.#load(source, counts, context, call);
      const stored = yield* writeDocument(this.parts.documents, loaded, context, call);
      return await withOriginal(this.parts.originals, stored, loaded, context);
    } catch (error) {
      if (!isOfDocument(error, call)) throw error;
      logFailed(source, error);
      return error;
    }
  }

  async *#load(
    source: IngestSource,
    counts: Pick<IngestProgress, 'completed' | 'total'>,
    context: IngestContext,
    call: IngestCall,
  ): AsyncGenerator<IngestProgress, LoadedDocument, void> {
    const { filename } = source;
    let document: LoadedDocument | undefined;
    const reading = eventsOf<ReadingPart>(async (onPart, signal) => {
      document = await this.parts.loader.load(source, context, { ...call, signal }, onPart);
    }, call.signal);
    for await (const part of reading) yield { stage: 'reading', filename, ...counts, part };
    if (!document) throw new MegaNestError('cancelled');
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

/** True if an error concerns one document only. Any other error would also stop the other documents. */
function isOfDocument(error: unknown, { signal, deadline }: IngestCall): error is MegaNestError {
  if (signal.aborted || !(error instanceof MegaNestError)) return false;
  // Reading has a timeout of its own.
  if (error.code === 'deadline_exceeded') return Date.now() < deadline;
  return error.status < 499 && error.status !== 429;
}

function tooLate(cause: unknown): MegaNestError {
  const detail = '; send async=true to run a large ingest in the background';
  return new MegaNestError('deadline_exceeded', { detail, cause });
}
