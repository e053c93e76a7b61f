import { decodeVectors, describeEmbeddingModel, embed, MegaNestError, type ModelInfo } from '#contracts';
import type { CallOptions, RpcClient } from '#messaging';
import { withPatience } from './with-patience.js';

/** Bounds of one request: few enough for a quick answer, small enough for a message. */
const batchLimits = { texts: 32, characters: 64_000 };
/** Requests under way at a time for one ingest; more would only queue at the service. */
const maxRunning = 2;

type PassedOn = CallOptions & { signal: AbortSignal; deadline: number };

/** Embeds over NATS: in batches, a few at a time, patient with a service that is overloaded or restarting. */
export class EmbeddingClient {
  constructor(private readonly rpc: Pick<RpcClient, 'request'>) {}

  /** The model that embeds. Errors: service_unavailable. */
  describe(call: PassedOn): Promise<ModelInfo> {
    return withPatience(call, () => this.rpc.request(describeEmbeddingModel, {}, call));
  }

  /** Vectors of texts, batch by batch in order. Errors: the service's own, cancelled, deadline_exceeded. */
  async *embedAll(texts: readonly string[], call: PassedOn): AsyncGenerator<Float32Array[], void, void> {
    const abort = new AbortController();
    const own = { ...call, signal: AbortSignal.any([call.signal, abort.signal]) };
    const running: Promise<Float32Array[]>[] = [];
    try {
      for (const batch of batchesOf(texts)) {
        running.push(this.#embedBatch(batch, own));
        if (running.length >= maxRunning) yield await firstOf(running);
      }
      while (running.length > 0) yield await firstOf(running);
    } finally {
      abort.abort();
      await Promise.allSettled(running);
    }
  }

  #embedBatch(inputs: string[], call: PassedOn): Promise<Float32Array[]> {
    const batch = withPatience(call, async () => {
      const reply = await this.rpc.request(embed, { inputs, truncate: true }, call);
      const vectors = decodeVectors(reply.vectors, reply.dimensions);
      if (vectors.length === inputs.length) return vectors;
      const detail = `it answered ${vectors.length} vectors for ${inputs.length} texts`;
      throw new MegaNestError('bad_upstream', { service: 'embedding', detail });
    });
    // Whoever awaits it sees the error; until then it must not count as unhandled.
    batch.catch(() => undefined);
    return batch;
  }
}

/** Groups texts by number and size; a text larger than a batch is one of its own. */
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
