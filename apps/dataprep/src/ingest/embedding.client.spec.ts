import { embed, encodeVectors, MegaNestError, type RequestOf } from '#platform/contracts';
import type { CallOptions, RpcClient } from '#platform/messaging';
import { describe, expect, it } from 'vitest';
import { batchesOf, EmbeddingClient } from './embedding.client.js';

type Answer = (inputs: string[], attempt: number) => Promise<unknown>;

/** An embedding service that answers as told and counts what runs at a time. */
class FakeRpc {
  attempts = 0;
  running = 0;
  mostRunning = 0;
  readonly priorities = new Set<CallOptions['priority']>();

  constructor(private readonly answer: Answer) {}

  request = (async (_method: unknown, { inputs }: RequestOf<typeof embed>, { priority }: CallOptions) => {
    this.priorities.add(priority);
    this.attempts += 1;
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      return await this.answer(inputs as string[], this.attempts);
    } finally {
      this.running -= 1;
    }
  }) as RpcClient['request'];
}

const reply = (inputs: string[]) => ({
  model: 'fake',
  dimensions: 1,
  vectors: encodeVectors(inputs.map((input) => Float32Array.of(Number(input)))),
  promptTokens: 0,
});
const overloaded = () => new MegaNestError('overloaded', { service: 'embedding', detail: 'a full queue' });
const callOf = (signal = new AbortController().signal) => ({ signal, deadline: Date.now() + 60_000 });
const numbers = (count: number) => Array.from({ length: count }, (_unused, index) => String(index));

async function embedAll(rpc: FakeRpc, texts: string[], call = callOf()): Promise<number[]> {
  const vectors: number[] = [];
  for await (const batch of new EmbeddingClient(rpc).open(call).embedAll(texts, call.signal))
    vectors.push(...valuesOf(batch));
  return vectors;
}

const valuesOf = (vectors: Float32Array[]) => vectors.map(([value]) => value ?? -1);

describe('EmbeddingClient', () => {
  it('keeps the order with a few requests at a time', async () => {
    const rpc = new FakeRpc(async (inputs, attempt) => {
      // Every other request is slower than the one after it.
      for (let turn = 0; turn < (attempt % 2) * 5; turn += 1) await Promise.resolve();
      return reply(inputs);
    });
    expect(await embedAll(rpc, numbers(200))).toEqual(numbers(200).map(Number));
    expect(rpc.mostRunning).toBe(4);
  });

  it('sends the texts of documents as bulk work, which queries overtake', async () => {
    const rpc = new FakeRpc((inputs) => Promise.resolve(reply(inputs)));
    await embedAll(rpc, numbers(40));
    expect([...rpc.priorities]).toEqual(['bulk']);
  });

  it('asks an overloaded service again', async () => {
    const rpc = new FakeRpc((inputs, attempt) =>
      attempt === 1 ? Promise.reject(overloaded()) : Promise.resolve(reply(inputs)),
    );
    expect(await embedAll(rpc, ['7'])).toEqual([7]);
    expect(rpc.attempts).toBe(2);
  });

  it('gives up when the deadline comes before the next attempt', async () => {
    const rpc = new FakeRpc(() => Promise.reject(overloaded()));
    const call = { ...callOf(), deadline: Date.now() + 100 };
    await expect(embedAll(rpc, ['7'], call)).rejects.toMatchObject({ code: 'overloaded' });
    expect(rpc.attempts).toBe(1);
  });

  it('does not repeat what cannot succeed', async () => {
    const rpc = new FakeRpc(() => Promise.reject(new MegaNestError('model_not_found', {})));
    await expect(embedAll(rpc, ['7'])).rejects.toMatchObject({ code: 'model_not_found' });
    expect(rpc.attempts).toBe(1);
  });

  it('stops waiting when it is cancelled', async () => {
    const abort = new AbortController();
    const rpc = new FakeRpc(() => {
      queueMicrotask(() => abort.abort());
      return Promise.reject(overloaded());
    });
    await expect(embedAll(rpc, ['7'], callOf(abort.signal))).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('refuses an answer with too few vectors', async () => {
    const rpc = new FakeRpc((inputs) => Promise.resolve(reply(inputs.slice(1))));
    await expect(embedAll(rpc, ['7', '8'])).rejects.toMatchObject({ code: 'bad_upstream' });
  });
});

describe('texts of several documents', () => {
  /** What each document gets, or the code of its error. */
  async function embedDocuments(rpc: FakeRpc, documents: string[][], signals: AbortSignal[] = []) {
    const embedder = new EmbeddingClient(rpc).open(callOf());
    const embed = async (texts: string[], index: number) => {
      const vectors: number[] = [];
      const signal = signals[index] ?? new AbortController().signal;
      for await (const batch of embedder.embedAll(texts, signal)) vectors.push(...valuesOf(batch));
      return vectors;
    };
    const outcomes = await Promise.allSettled(documents.map(embed));
    return outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as MegaNestError).code,
    );
  }

  it('are embedded together, and each document gets its own', async () => {
    const sent: string[][] = [];
    const rpc = new FakeRpc(async (inputs) => {
      sent.push(inputs);
      return reply(inputs);
    });
    const documents = [['1', '2'], ['3'], numbers(31), ['4', '5']];
    expect(await embedDocuments(rpc, documents)).toEqual(documents.map((texts) => texts.map(Number)));
    expect(sent).toEqual([['1', '2', '3'], numbers(31), ['4', '5']]);
  });

  it('fail alone where the service refuses one of them', async () => {
    const rpc = new FakeRpc((inputs) =>
      inputs.includes('13')
        ? Promise.reject(new MegaNestError('invalid_request', { detail: 'It is refused.' }))
        : Promise.resolve(reply(inputs)),
    );
    expect(await embedDocuments(rpc, [['1'], ['13'], ['2']])).toEqual([[1], 'invalid_request', [2]]);
  });

  it('leave out those of a document that was given up', async () => {
    const sent: string[][] = [];
    const rpc = new FakeRpc(async (inputs) => {
      sent.push(inputs);
      return reply(inputs);
    });
    const gone = new AbortController();
    const outcomes = embedDocuments(rpc, [['1'], ['2']], [gone.signal]);
    gone.abort();
    expect(await outcomes).toEqual(['cancelled', [2]]);
    expect(sent).toEqual([['2']]);
  });
});

describe('batchesOf', () => {
  it('bounds number and size, and keeps every text', () => {
    const texts = [...numbers(40), 'x'.repeat(50_000), 'y'.repeat(20_000), 'z'.repeat(100_000), '1'];
    const batches = [...batchesOf(texts)];
    expect(batches.flat()).toEqual(texts);
    expect(batches.map((batch) => batch.length)).toEqual([32, 9, 1, 1, 1]);
  });
});
