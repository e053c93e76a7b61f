/**
 * Decode steps of a 135M-shaped model: the graph as exporters write it against the compiled ones, over batch and length of
 * the past. Subjects take turns, so that a busy machine slows them alike; trust the ratios.
 * Run: `npm run build && node dist/bench/inference/decoder.js [threads]`. Weights and graphs are kept in .data/bench.
 */
import { join } from 'node:path';
import { deltaSubject, exporterSubject, type Subject } from './decoder-subjects.js';
import { makeRandomDecoder } from './random-decoder.js';

const threads = Number(process.argv[2] ?? 1);
const batches = [1, 4, 8];
const pasts = [128, 512, 1024];
const rounds = 5;
const roundMilliseconds = 250;

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

/** Milliseconds a step: the fastest quarter of the steps of one turn, which other work on the machine disturbs least. */
async function measure(step: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let spent = 0; spent < roundMilliseconds || times.length < 2; spent += times.at(-1)!) {
    const start = performance.now();
    await step();
    times.push(performance.now() - start);
  }
  return times.sort((left, right) => left - right)[Math.floor(times.length / 4)]!;
}

const median = (values: number[]): number => values.sort((left, right) => left - right)[values.length >> 1]!;

/** Tokens a second of every subject, the median of the rounds. */
async function compare(batch: number, past: number): Promise<number[]> {
  const steps = subjects.map((subject) => subject.prepare(batch, past));
  for (const step of steps) await step();
  const times: number[][] = subjects.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, step] of steps.entries()) times[index]!.push(await measure(step));
  return times.map((values) => (batch / median(values)) * 1000);
}

console.log(`Tokens a second (and ratio to exporter int8), ${threads} thread(s), medians of ${rounds} turns`);
console.log(`| batch × past | ${subjects.map(({ name }) => name).join(' | ')} |`);
console.log(`|---|${subjects.map(() => '---|').join('')}`);
for (const batch of batches)
  for (const past of pasts) {
    const speeds = await compare(batch, past);
    const cells = speeds.map((speed) => `${speed.toFixed(0)} (${(speed / speeds[1]!).toFixed(2)})`);
    console.log(`| ${batch} × ${past} | ${cells.join(' | ')} |`);
  }
