/**
 * Compares decode steps of the exporter's graph and of the compiled graphs, for a model of the 135M shape, by batch and
 * length of the past. Processor time depends least on the load of the machine.
 */
import { join } from 'node:path';
import { interleave, type Result } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { compiledStep, exporterStep, type GraphStep } from './graph-steps.js';
import { benchFolder, randomDecoder } from './models.js';

const batches = [1, 4, 8];
const pasts = [128, 512, 1024];
const turnMilliseconds = 250;
/** The graph with which the others are compared. */
const base = 1;

async function openSteps(threads: number): Promise<GraphStep[]> {
  const directory = await randomDecoder();
  const cacheDir = join(benchFolder, 'compiled');
  return [
    await exporterStep(directory, join(benchFolder, 'exporter-fp32'), 'fp32', threads),
    await exporterStep(directory, join(benchFolder, 'exporter-int8'), 'int8', threads),
    await compiledStep(directory, cacheDir, { weights: 'fp32', kv: 'float' }, threads),
    await compiledStep(directory, cacheDir, { weights: 'int8', kv: 'float' }, threads),
    await compiledStep(directory, cacheDir, { weights: 'int8', kv: 'int8' }, threads),
  ];
}

/** Runs steps for a quarter of a second, at least two; returns the number of generated tokens. */
async function turn(step: () => Promise<void>, batch: number): Promise<number> {
  const end = performance.now() + turnMilliseconds;
  let steps = 0;
  for (; steps < 2 || performance.now() < end; steps++) await step();
  return steps * batch;
}

function speedTable(
  steps: readonly GraphStep[],
  rows: readonly (readonly [string, Result[]])[],
  key: 'perSecond' | 'perCpuSecond',
): string {
  const cells = rows.map(([label, results]) => [
    label,
    ...results.map(
      (result) => `${result[key].toFixed(0)} (${(result[key] / results[base]![key]).toFixed(2)})`,
    ),
  ]);
  return table(['batch × past', ...steps.map(({ name }) => name)], cells);
}

export const subject: Subject = {
  async run({ threads, rounds }) {
    const steps = await openSteps(threads);
    const rows: [string, Result[]][] = [];
    for (const batch of batches) {
      for (const past of pasts) {
        const contenders = steps.map(({ name, prepare }) => {
          const step = prepare(batch, past);
          return { name, run: () => turn(step, batch) };
        });
        rows.push([`${batch} × ${past}`, await interleave(contenders, rounds)]);
        console.error(`${batch} × ${past} measured`);
      }
    }
    return [
      '## Decoder graphs',
      introduction,
      speedTable(steps, rows, 'perCpuSecond'),
      'By the clock:',
      speedTable(steps, rows, 'perSecond'),
    ].join('\n\n');
  },
};

const introduction = `A decode step of a 135M-shaped model (random weights): the exported graph, which takes and returns the whole KV cache,
against the compiled ones over a KV cache of the caller (docs/design/model-compiler.md). Tokens per second of processor time, in brackets the
ratio to the exporter's int8 graph. Activations are quantized by row in the compiled graphs, by tensor in the exporter's.`;
