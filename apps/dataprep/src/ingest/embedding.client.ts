import {
  decodeVectors,
  describeEmbeddingModel,
  embed,
  MegaNestError,
  type ModelInfo,
} from '#platform/contracts';
import type { CallOptions, RpcClient } from '#platform/messaging';
import { withPatience } from './with-patience.js';

/** Limits of one request: few texts for a short latency, few characters for the size of a message. */
const batchLimits = { texts: 32, characters: 64_000 };
/** Concurrent requests of one ingest: enough for two instances with two workers each. */
const maxRunning = 4;

type PassedOn = CallOptions & { signal: AbortSignal; deadline: number; comeBackMs?: number };
type Rpc = Pick<RpcClient, 'request'>;

/** Embeds over NATS in batches, a few at a time. Retries while the service is overloaded or restarting. */
export class EmbeddingClient {
  constructor(private readonly rpc: Rpc) {}

  /** Describes the embedding model. Errors: service_unavailable. */
  describe(call: PassedOn): Promise<ModelInfo> {
    return withPatience(call, () => this.rpc.request(describeEmbeddingModel, {}, call));
  }

  /** Returns an embedder for the documents of one ingest. It combines their small batches. */
  open(call: PassedOn): TextEmbedder {
    return new TextEmbedder(this.rpc, call);
  }
}

/** Texts of a document that are not embedded yet. */
interface Waiting {
  texts: string[];
  resolve: (vectors: Float32Array[]) => void;
  reject: (error: unknown) => void;
}

/** Embeds the texts of several documents concurrently. One request may contain texts of several documents. */
export class TextEmbedder {
  #waiting: Waiting[] = [];
  #running = 0;
  #isScheduled = false;

  constructor(
    private readonly rpc: Rpc,
    private readonly call: PassedOn,
  ) {}

  /**
   * Yields the vectors of a document's texts, batch by batch in order. Errors: the errors of the service, cancelled,
   * deadline_exceeded.
   */
  async *embedAll(texts: readonly string[], signal: AbortSignal): AsyncGenerator<Float32Array[], void, void> {
    const own: Waiting[] = [];
    const running: Promise<Float32Array[]>[] = [];
    const leave = () => this.#remove(own);
    signal.addEventListener('abort', leave, { once: true });
    try {
      for (const batch of batchesOf(texts)) {
        if (signal.aborted) throw new MegaNestError('cancelled');
        running.push(this.#add(batch, own));
        if (running.length >= maxRunning) yield await firstOf(running);
      }
      while (running.length > 0) yield await firstOf(running);
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
      await Promise.allSettled(running);
    }
  }

  #add(texts: string[], own: Waiting[]): Promise<Float32Array[]> {
    const vectors = new Promise<Float32Array[]>((resolve, reject) => {
      const waiting = { texts, resolve, reject };
      own.push(waiting);
      this.#waiting.push(waiting);
    });
    // The generator throws the error when it awaits this batch. Until then the rejection must not count as unhandled.
    vectors.catch(() => undefined);
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      // Texts of documents that are read at the same time are sent together.
      setImmediate(() => {
        this.#isScheduled = false;
        this.#begin();
      });
    }
    return vectors;
  }

  #remove(own: readonly Waiting[]): void {
    const left = this.#waiting.filter((waiting) => own.includes(waiting));
    this.#waiting = this.#waiting.filter((waiting) => !own.includes(waiting));
    for (const { reject } of left) reject(new MegaNestError('cancelled'));
  }

  #begin(): void {
    while (this.#running < maxRunning && this.#waiting.length > 0) {
      const count = fittingTogether(this.#waiting.map(({ texts }) => texts));
      const together = this.#waiting.splice(0, count);
      this.#running += 1;
      void this.#embed(together).finally(() => {
        this.#running -= 1;
        this.#begin();
      });
    }
  }

  async #embed(together: readonly Waiting[]): Promise<void> {
    try {
      const vectors = await this.#request(together.flatMap(({ texts }) => texts));
      let first = 0;
      for (const { texts, resolve } of together) resolve(vectors.slice(first, (first += texts.length)));
    } catch (error) {
      if (together.length > 1 && isOfTexts(error)) for (const each of together) await this.#embed([each]);
      else for (const { reject } of together) reject(error);
    }
  }

  #request(inputs: string[]): Promise<Float32Array[]> {
    return withPatience(this.call, async () => {
      const call = { ...this.call, priority: 'bulk' as const };
      const reply = await this.rpc.request(embed, { inputs, truncate: true, input_type: 'document' }, call);
      const vectors = decodeVectors(reply.vectors, reply.dimensions);
      if (vectors.length === inputs.length) return vectors;
      const detail = `it answered ${vectors.length} vectors for ${inputs.length} texts`;
      throw new MegaNestError('bad_upstream', { service: 'embedding', detail });
    });
  }
}

/** True if the service refused the texts. One document may be the cause, so that each batch is then sent by itself. */
function isOfTexts(error: unknown): boolean {
  return error instanceof MegaNestError && error.status < 499 && error.status !== 429;
}

/** Number of batches that fit into one request; at least one. */
function fittingTogether(batches: readonly string[][]): number {
  let [texts, characters] = [0, 0];
  const count = batches.findIndex((batch) => {
    texts += batch.length;
    characters += batch.reduce((sum, text) => sum + text.length, 0);
    return texts > batchLimits.texts || characters > batchLimits.characters;
  });
  return count === -1 ? batches.length : Math.max(count, 1);
}

/** Groups texts by number and size. A text that is larger than a batch becomes a batch of its own. */
export function* batchesOf(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    const isFull = batch.length >= batchLimits.texts || characters + text.length > batchLimits.characters;
    if (batch.length > 0 && isFull) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}

function firstOf(running: Promise<Float32Array[]>[]): Promise<Float32Array[]> {
  return running.shift() ?? Promise.resolve([]);
}
