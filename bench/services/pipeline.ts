/**
 * Measures the overhead of the pipeline: hops over NATS, the engine of mega services, embedding through the gateway.
 */
import { Pool } from 'undici';
import { embed } from '#platform/contracts';
import { MessagingConnection, RpcClient } from '#platform/messaging';
import { startStack } from '#platform/testing';
import { loadEmbedder } from '#engine/encoders';
import { interleave, type Result } from '../harness/interleave.js';
import { resultTable, table } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { benchFolder, bundledModel } from '../inference/models.js';
import { atOnce, words } from '../inference/texts.js';
import { measureDag } from './dag.js';
import { measureHops } from './hops.js';

const perRequest = 32;
const concurrency = 8;
const names = ['through the gateway, HTTP', 'the embedding service over NATS', 'the engine'] as const;
const requests = Array.from({ length: 24 }, (_unused, request) =>
  Array.from({ length: perRequest }, (_text, index) =>
    words(request * perRequest + index, 8 + ((index * 37) % 73)),
  ),
);

async function measureEmbedding(rounds: number): Promise<Result[]> {
  const stack = await startStack({ env: { RATE_LIMIT_PER_MINUTE: '0' } });
  try {
    const engine = await loadEmbedder(bundledModel('nano-embed'), { cacheDirectory: benchFolder });
    const connection = await MessagingConnection.open({ url: stack.nats.url, name: 'bench' });
    const rpc = new RpcClient(connection);
    const pool = new Pool(stack.service('gateway').url, { connections: concurrency });
    const post = async (input: string[]) => {
      const body = JSON.stringify({ model: 'nano-embed', input, encoding_format: 'base64' });
      const headers = { 'content-type': 'application/json' };
      const answer = await pool.request({ path: '/v1/embeddings', method: 'POST', headers, body });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text}`);
    };
    const all = async (work: (inputs: string[]) => Promise<unknown>) =>
      (await atOnce(requests, concurrency, work)) * perRequest;
    const results = await interleave(
      [
        { name: names[0], run: () => all(post) },
        { name: names[1], run: () => all((inputs) => rpc.request(embed, { inputs })) },
        { name: names[2], run: () => all((inputs) => engine.embed(inputs)) },
      ],
      rounds,
    );
    await pool.close();
    rpc.close();
    await connection.close();
    await engine.close();
    return results;
  } finally {
    await stack.stop().catch((error: unknown) => console.error(error));
  }
}

export const subject: Subject = {
  async run({ rounds }) {
    const results = await measureEmbedding(Math.max(rounds, 5));
    const share = results[0]!.perSecond / results[2]!.perSecond;
    const target = [['embedding through the gateway, share of the engine', '≥ 0.9', share.toFixed(3)]];
    return [
      '## Pipeline',
      '### Hops over NATS\n\nNo-op nodes of a mega service, in a service of a process of its own, over a real nats-server.',
      await measureHops(),
      '### The engine of mega services\n\nNodes that do nothing, in one process.',
      await measureDag(),
      `### Embedding\n\nRequests of ${perRequest} texts of 8 to 80 words, ${concurrency} at a time; processor time is that of the client's process, which the engine is part of in its own row only.`,
      resultTable('texts', results),
      table(['', 'target', 'measured'], target),
    ].join('\n\n');
  },
};
