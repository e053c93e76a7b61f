import { availableParallelism } from 'node:os';
import { embed } from '#platform/contracts';
import { RpcClient, type CallOptions } from '#platform/messaging';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServiceWithClient, type ServiceWithClient } from '../../support/service-with-client.js';

let running: ServiceWithClient;
let client: RpcClient;

beforeAll(async () => {
  running = await startServiceWithClient('embedding');
  ({ client } = running);
});
afterAll(() => running?.stop());

const textsOfRequest = 32;
/** Requests of several large ingests. */
const requestsAtOnce = 16;
/** A worker gets about this number of texts at a time. */
const textsOfBatch = 8;

const passage = (number: number) => `Passage ${number} of a large document. `.repeat(10);
/** As long as a passage: a short text finds room beside the passages of any batch. */
const query = 'Which of the documents has the answer? '.repeat(8);
const askMs = async (priority: CallOptions['priority']) => {
  const startedAt = performance.now();
  await client.request(embed, { inputs: [query] }, { priority });
  return performance.now() - startedAt;
};
const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))]!;

it('embeds a query within a batch or so while large ingests run', async () => {
  const over = new AbortController();
  let embedded = 0;
  const ingest = async (first: number) => {
    for (let number = first; !over.signal.aborted; number += textsOfRequest) {
      const inputs = Array.from({ length: textsOfRequest }, (_unused, index) => passage(number + index));
      const { vectors } = await client.request(embed, { inputs }, { priority: 'bulk' });
      expect(vectors.length).toBeGreaterThan(0);
      embedded += textsOfRequest;
    }
  };
  const ingests = Array.from({ length: requestsAtOnce }, (_unused, index) => ingest(index * 10_000));
  const startedAt = performance.now();
  const waits = { interactive: [] as number[], bulk: [] as number[] };
  for (let round = 0; round < 5; round += 1) {
    for (let count = 0; count < 5; count += 1) waits.interactive.push(await askMs('interactive'));
    waits.bulk.push(await askMs('bulk'));
  }
  const elapsedMs = performance.now() - startedAt;
  over.abort();
  await Promise.all(ingests);
  const batchMs = (elapsedMs / embedded) * textsOfBatch * availableParallelism();
  // In the queue of the ingests the same query waits for a batch of each of their requests.
  const inTurns = quantile(waits.bulk, 0.5);
  expect(quantile(waits.interactive, 0.5)).toBeLessThan(inTurns / 3);
  expect(quantile(waits.interactive, 0.95)).toBeLessThan(inTurns);
  expect(quantile(waits.interactive, 0.5)).toBeLessThan(2 * batchMs);
});
