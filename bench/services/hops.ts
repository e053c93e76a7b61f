/**
 * Measures the cost of a hop: no-op nodes of a mega service, called over a real NATS server in a service with its own
 * process. The graphs take turns, so that a busy machine slows all of them alike.
 */
import { createServiceRegistry, parseMegaService, runDag, type MegaServiceDefinition } from '#platform/dag';
import type { RequestOf } from '#platform/contracts';
import { MessagingConnection, RpcClient } from '#platform/messaging';
import { startNats } from '#platform/testing';
import { z } from 'zod';
import { table } from '../harness/markdown.js';
import { quantile } from '../harness/interleave.js';
import { startStepService, step } from './step-service.js';

const runs = 2_000;
const warmUp = 300;
const nodeCount = 6;

const registry = createServiceRegistry([
  {
    service: 'step',
    inputs: { text: { kind: 'text', optional: true } },
    output: 'text',
    parameters: z.object({}),
  },
]);

/** `after` of each node, by the number of the node. */
function define(nodes: number, after: (index: number) => string): MegaServiceDefinition {
  const list = Array.from(
    { length: nodes },
    (_unused, index) => `  n${index}: { service: step, after: [${after(index)}] }`,
  );
  const yaml = ['name: bench', 'description: Benchmark.', `output: n${nodes - 1}`, 'nodes:', ...list];
  return parseMegaService(yaml.join('\n'), 'bench.yaml', { registry });
}

const chain = (index: number) => (index === 0 ? '' : `n${index - 1}`);
const subjects = [
  { name: 'one node', definition: define(1, chain), hops: 1 },
  { name: `${nodeCount} nodes, one after the other`, definition: define(nodeCount, chain), hops: nodeCount },
  { name: `${nodeCount} nodes side by side`, definition: define(nodeCount, () => ''), hops: 1 },
];
/** Nodes with predecessors, like the nodes of a real graph. */
const waitMs = 10;
const waiting = [
  { name: `one node of ${waitMs} ms`, definition: define(1, chain) },
  { name: `${nodeCount} nodes of ${waitMs} ms side by side`, definition: define(nodeCount, () => '') },
];
const waitingRuns = 300;

/** A table of the times of the graphs, in milliseconds. */
export async function measureHops(): Promise<string> {
  const nats = await startNats();
  const service = await startStepService(nats.url);
  const connection = await MessagingConnection.open({ url: nats.url, name: 'bench' });
  const client = new RpcClient(connection);
  const times = subjects.map((): number[] => []);
  for (let round = 0; round < runs + warmUp; round++) {
    for (const [index, { definition }] of subjects.entries()) {
      const milliseconds = await runOnce(client, definition, { text: 'x' });
      if (round >= warmUp) times[index]!.push(milliseconds);
    }
  }
  const waited = waiting.map((): number[] => []);
  for (let round = 0; round < waitingRuns; round++) {
    for (const [index, { definition }] of waiting.entries())
      waited[index]!.push(await runOnce(client, definition, { text: 'x', waitMs }));
  }
  service.disconnect();
  client.close();
  await connection.close();
  await nats.stop();
  const row = (name: string, values: number[], hops: number) => {
    const at = (share: number) => quantile(values, share);
    return [name, ...[at(0.05), at(0.5), at(0.99), at(0.5) / hops].map((value) => value.toFixed(2))];
  };
  const rows = [
    ...subjects.map(({ name, hops }, index) => row(name, times[index]!, hops)),
    ...waiting.map(({ name }, index) => row(name, waited[index]!, 1)),
  ];
  return table(
    [`${runs} runs, ${waitingRuns} of those that wait, ms`, 'p5', 'p50', 'p99', 'p50 a hop'],
    rows,
  );
}

async function runOnce(
  client: RpcClient,
  definition: MegaServiceDefinition,
  payload: RequestOf<typeof step>,
): Promise<number> {
  const deadline = Date.now() + 60_000;
  const start = performance.now();
  await runDag({
    definition,
    request: {},
    deadline,
    run: ({ signal, deadline: until }) => client.request(step, payload, { signal, deadline: until }),
  }).result;
  return performance.now() - start;
}
