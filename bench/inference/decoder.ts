/**
 * Decode steps of a 135M-shaped model: the graph as exporters write it against the compiled ones, over batch and length of
 * the past. Subjects take turns, so that a busy machine slows them alike; processor time is what a busy machine changes
 * least. Run: `npm run build && node dist/bench/inference/decoder.js [threads]`. Weights and graphs stay in .data/bench.
 */
import { join } from 'node:path';
import { deltaSubject, exporterSubject, type Subject } from './decoder-subjects.js';
import { interleave, type Result } from './interleave.js';
import { makeRandomDecoder } from './random-decoder.js';

const threads = Number(process.argv[2] ?? 1);
const batches = [1, 4, 8];
const pasts = [128, 512, 1024];
const rounds = 7;
const turnMilliseconds = 250;

const folder = join('.data', 'bench');
const directory = await makeRandomDecoder(join(folder, 'random-135m'));
const cacheDir = join(folder, 'compiled');
const subjects: Subject[] = [
  await exporterSubject(directory, join(folder, 'exporter-fp32'), 'fp32', threads),
  await exporterSubject(directory, join(folder, 'exporter-int8'), 'int8', threads),
  await deltaSubject(directory, cacheDir, { weights: 'fp32', kv: 'float' }, threads),
  await deltaSubject(directory, cacheDir, { weights: 'int8', kv: 'float' }, threads),
  await deltaSubject(directory, cacheDir, { weights: 'int8', kv: 'int8' }, threads),
];
/** What the others are compared with. */
const base = 1;

/** Steps for a quarter of a second, two at least; returns the tokens that they made. */
async function turn(step: () => Promise<void>, batch: number): Promise<number> {
  const end = performance.now() + turnMilliseconds;
  let steps = 0;
  for (; steps < 2 || performance.now() < end; steps++) await step();
  return steps * batch;
}

function printTable(
  title: string,
  rows: readonly [string, Result[]][],
  key: 'perSecond' | 'perCpuSecond',
): void {
  console.log(`\n### ${title}, ${threads} thread(s)\n`);
  console.log(`| batch × past | ${subjects.map(({ name }) => name).join(' | ')} |`);
  console.log(`|---|${subjects.map(() => '---|').join('')}`);
  for (const [label, results] of rows) {
    const cells = results.map((result) => {
      const ratio = result[key] / results[base]![key];
      return `${result[key].toFixed(0)} (${ratio.toFixed(2)})`;
    });
    console.log(`| ${label} | ${cells.join(' | ')} |`);
  }
}

const rows: [string, Result[]][] = [];
for (const batch of batches)
  for (const past of pasts) {
    const contenders = subjects.map(({ name, prepare }) => {
      const step = prepare(batch, past);
      return { name, run: () => turn(step, batch) };
    });
    rows.push([`${batch} × ${past}`, await interleave(contenders, rounds)]);
    console.error(`${batch} × ${past} measured`);
  }
printTable('Tokens per processor second (ratio to exporter int8)', rows, 'perCpuSecond');
printTable('Tokens per second (ratio to exporter int8)', rows, 'perSecond');
