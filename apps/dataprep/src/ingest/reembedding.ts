import { embeddingModelName, MegaNestError, type ReembeddingState } from '#platform/contracts';
import type { ReembeddingRepository, ForeignDocument } from '#platform/storage';
import { Logger } from '@nestjs/common';
import { meanVector, embeddingTextsOf } from './document-writer.js';
import type { EmbeddingClient } from './embedding.client.js';
import { maxEmbeddedWordsOf } from './ingest-context.js';

/** Time limit of a run; another start continues where it ended. */
const maxRunMs = 24 * 3_600_000;
const describeTimeoutMs = 10_000;

/**
 * Embeds the stored chunks of other embedding models again, in the background. The database has the model of each
 * document, so that a run continues where an earlier one ended.
 */
export class Reembedding {
  readonly #logger = new Logger('reembedding');
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #done = 0;
  #problems: string[] = [];

  constructor(
    private readonly documents: ReembeddingRepository,
    private readonly embedding: Pick<EmbeddingClient, 'describe' | 'open'>,
  ) {}

  /** Starts a run if none is running. Errors: service_unavailable. */
  async start(): Promise<ReembeddingState> {
    const state = await this.state();
    if (this.#running || state.left === 0) return state;
    this.#done = 0;
    this.#problems = [];
    this.#running = this.#run(state.model).finally(() => (this.#running = undefined));
    return { ...state, running: true, done: 0, problems: [] };
  }

  /** The progress, and the number of documents that are left. Errors: service_unavailable. */
  async state(): Promise<ReembeddingState> {
    const { model } = await this.#served();
    const left = await this.documents.count(model);
    return { model, running: this.#running !== undefined, done: this.#done, left, problems: this.#problems };
  }

  /** Ends a run; the document at work keeps its vectors. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #served() {
    const call = { signal: this.#stop.signal, deadline: Date.now() + describeTimeoutMs };
    const info = await this.embedding.describe(call);
    return { model: embeddingModelName(info), maxWords: maxEmbeddedWordsOf(info) };
  }

  async #run(model: string): Promise<void> {
    this.#logger.log(`The documents of other embedding models are embedded again with ${model}.`);
    try {
      let document = await this.documents.next(model);
      for (; document; document = await this.documents.next(model, document.id)) {
        const served = await this.#served();
        if (served.model !== model) throw new Error(`the served model is now ${served.model}`);
        await this.#embed(document, served);
      }
      this.#logger.log(`${this.#done} documents were embedded again, ${this.#problems.length} were not.`);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#note('It ended early', error);
    }
  }

  async #embed(document: ForeignDocument, { model, maxWords }: { model: string; maxWords: number }) {
    const { signal } = this.#stop;
    const chunks = await this.documents.chunks(document.id);
    const texts = chunks.map(({ heading, text }) => embeddingTextsOf(heading ?? '', text, maxWords));
    const embedder = this.embedding.open({ signal, deadline: Date.now() + maxRunMs });
    try {
      const vectors: Float32Array[] = [];
      for await (const batch of embedder.embedAll(texts.flat(), signal)) vectors.push(...batch);
      const embedded = chunks.map(({ id }, index) => ({
        id,
        embedding: meanVector(vectors.splice(0, texts[index]!.length)),
      }));
      if (await this.documents.replace(document, model, embedded)) this.#done += 1;
    } catch (error) {
      // One document must not keep the others from their vectors; without its service none gets any.
      const isOfDocument = error instanceof MegaNestError && error.status < 499 && error.status !== 429;
      if (!isOfDocument) throw error;
      this.#note(document.filename, error);
    }
  }

  #note(what: string, error: unknown): void {
    const problem = `${what}: ${error instanceof Error ? error.message : String(error)}`;
    this.#problems.push(problem);
    this.#logger.warn(problem);
  }
}
