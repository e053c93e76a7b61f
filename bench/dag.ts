import { z } from 'zod';
import { createServiceRegistry, parseMegaService, runDag, type MegaServiceDefinition } from '#dag';

/**
 * What the engine itself costs: six nodes that do nothing, one after the other and side by side, in one process.
 * Run: npm run build && node dist/bench/dag.js [runs, default 20000]
 */
const runs = Number(process.argv[2] ?? 20_000);
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
  return microseconds.sort((a, b) => a - b);
}

function report(name: string, microseconds: number[]): void {
  const at = (share: number) => microseconds[Math.floor(share * (microseconds.length - 1))] ?? 0;
  const columns = [at(0.5), at(0.99), at(0.5) / nodeCount].map((value) => value.toFixed(1).padStart(10));
  console.log(name.padEnd(44) + columns.join(''));
}

console.log(`${nodeCount} no-op nodes, ${runs} runs, µs`.padEnd(44) + '       p50       p99  p50/node');
report('sequential', await measure(define(sequential, '')));
report('parallel', await measure(define(parallel, '')));
const { signal } = new AbortController();
report('sequential, deadline, signal, all policies', await measure(define(sequential, allPolicies), signal));
report('parallel, deadline, signal, all policies', await measure(define(parallel, allPolicies), signal));
