import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { table } from './markdown.js';
import type { Result } from './interleave.js';

const bufferBytes = 256 * 1024 * 1024;
const passes = 6;

/** Searches for an absent byte: `memchr` reads the whole buffer, without other work. */
const reader = `
const { parentPort } = require('node:worker_threads');
const buffer = Buffer.alloc(${bufferBytes}, 2);
buffer.indexOf(1);
parentPort.on('message', () => {
  for (let pass = 0; pass < ${passes}; pass++) buffer.indexOf(1);
  parentPort.postMessage('read');
});
parentPort.postMessage('ready');
`;

/** Returns the bytes per second that a plain loop in each thread reads from memory; the best of a few attempts. */
export async function readBandwidth(threads: number, tries = 5): Promise<number> {
  const workers = Array.from({ length: threads }, () => new Worker(reader, { eval: true }));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  let best = 0;
  for (let attempt = 0; attempt < tries; attempt++) {
    const startedAt = performance.now();
    const read = workers.map((worker) => once(worker, 'message'));
    for (const worker of workers) worker.postMessage('go', []);
    await Promise.all(read);
    const seconds = (performance.now() - startedAt) / 1000;
    best = Math.max(best, (threads * passes * bufferBytes) / seconds);
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
  return best;
}

/** Bytes that a contender reads in each step, and tokens that a step generates. */
export interface StepBytes {
  readonly name: string;
  readonly bytes: number;
  readonly tokens: number;
}

/** Compares the rate at which the steps of each contender read the weights with the rate of a plain loop. */
export async function bandwidthTable(
  results: readonly Result[],
  steps: readonly StepBytes[],
  threads: number,
): Promise<string> {
  const limit = await readBandwidth(threads);
  const rows = steps.flatMap(({ name, bytes, tokens }) => {
    const result = results.find((one) => one.name === name);
    if (!result) return [];
    const speed = (result.perSecond / tokens) * bytes;
    return [
      [name, (bytes / 1e6).toFixed(0), (speed / 1e9).toFixed(1), `${((100 * speed) / limit).toFixed(0)}%`],
    ];
  });
  const head = [
    '',
    'MB of weights a step',
    'GB/s',
    `share of a plain read loop (${(limit / 1e9).toFixed(1)} GB/s)`,
  ];
  return table(head, rows);
}
