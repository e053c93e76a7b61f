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

/** Documents of a request that are worked on at a time, and in memory. */
const documentsAtOnce = 4;
/** Where all are small: their texts are embedded together. */
const smallDocumentsAtOnce = 32;
const smallDocumentBytes = 64 * 1024;

/** A request's sources, and what became of each, in the same order. */
interface Batch {
  index: number;
  sources: readonly IngestSource[];
  outcomes: (IngestedDocument | MegaNestError)[];
}

/** Ends the work early, and what its own calls carry on. */
export type IngestCall = CallOptions & { signal: AbortSignal; deadline: number };

export interface IngestParts {
  sources: SourceReader;
  loader: DocumentLoader;
  embedding: EmbeddingClient;
  documents: Pick<DocumentsRepository, 'replaceDocument'>;
}

/**
 * Ingests documents, a few side by side: each is fetched, read, cut and embedded, then it replaces its predecessor in one
 * step. Of several, one that cannot be read fails alone, with its reason.
 */
export class IngestService {
  constructor(
    private readonly parts: IngestParts,
    private readonly chunkingDefaults: ChunkingOptions,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Streams progress: within a file the stages come in order and their counts only grow; the last event is `done`
   * and holds the documents. Leaving the loop stops the work. Errors: invalid_request, unsupported_file,
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

  /** Finds what is wrong with a request as far as it tells by itself. Errors: invalid_request. */
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

  /** Puts what became of a document into its place among the outcomes. Errors: those that would stop the others too. */
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
    // How many sections will give is not known yet.
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

/** What was set aside, and why. */
function failureOf(outcome: IngestedDocument | MegaNestError, filename: string): FailedDocument[] {
  if (!(outcome instanceof MegaNestError)) return [];
  const { code, message, param } = outcome;
  return [{ filename, error: { code, message, param } }];
}

/** What is wrong lies in the document; anything else would stop the others too. */
function isOfDocument(error: unknown, signal: AbortSignal): error is MegaNestError {
  return !signal.aborted && error instanceof MegaNestError && error.status < 499 && error.status !== 429;
}

function tooLate(cause: unknown): MegaNestError {
  const detail = '; a large ingest goes on in the background with async=true';
  return new MegaNestError('deadline_exceeded', { detail, cause });
}
