/** Measures the engine of mega services: six no-op nodes, in sequence and in parallel, in one process. */
import { z } from 'zod';
import { createServiceRegistry, parseMegaService, runDag, type MegaServiceDefinition } from '#platform/dag';
import { table } from '../harness/markdown.js';
import { quantile } from '../harness/interleave.js';

const runs = 20_000;
const nodeCount = 6;

const registry = createServiceRegistry([
  {
    service: 'step',
    inputs: { text: { kind: 'text', optional: true } },
    output: 'text',
    parameters: z.object({ k: z.int().min(1).default(4), mode: z.enum(['a', 'b']).optional() }),
  },
]);

function define(after: (index: number) => string, policies: string): MegaServiceDefinition {
  const nodes = Array.from(
    { length: nodeCount },
    (_unused, index) => `  n${index}: { service: step, after: [${after(index)}] ${policies} }`,
  );
  const yaml = ['name: bench', 'description: Benchmark.', `output: n${nodeCount - 1}`, 'nodes:', ...nodes];
  return parseMegaService(yaml.join('\n'), 'bench.yaml', { registry });
}

const sequential = (index: number): string => (index === 0 ? '' : `n${index - 1}`);
const parallel = (): string => '';
const allPolicies =
  ', params: { k: 3 }, timeoutMs: 5000, retry: { attempts: 3 }, hedgeAfterMs: 1000, when: "parameters.k > 0"';

async function measure(definition: MegaServiceDefinition, signal?: AbortSignal): Promise<number[]> {
  const run = () => Promise.resolve('done');
  const microseconds: number[] = [];
  for (let index = 0; index < runs + 1000; index++) {
    const deadline = signal && Date.now() + 60_000;
    const start = performance.now();
    await runDag({ definition, request: {}, parameters: { k: 2 }, run, signal, deadline }).result;
    if (index >= 1000) microseconds.push((performance.now() - start) * 1000);
  }
  return microseconds;
}

/** A table of the times of the graphs, in microseconds. */
export async function measureDag(): Promise<string> {
  const { signal } = new AbortController();
  const graphs: [string, MegaServiceDefinition, AbortSignal?][] = [
    ['one after the other', define(sequential, '')],
    ['side by side', define(parallel, '')],
    ['one after the other, deadline, signal, all policies', define(sequential, allPolicies), signal],
    ['side by side, deadline, signal, all policies', define(parallel, allPolicies), signal],
  ];
  const rows: string[][] = [];
  for (const [name, definition, ending] of graphs) {
    const times = await measure(definition, ending);
    const at = (share: number) => quantile(times, share);
    rows.push([name, ...[at(0.5), at(0.99), at(0.5) / nodeCount].map((value) => value.toFixed(1))]);
  }
  return table([`${nodeCount} nodes, ${runs} runs, µs`, 'p50', 'p99', 'p50 a node'], rows);
}
