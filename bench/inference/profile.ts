/** Profiles passes of the compiled graph: one token of 1 and of 8 sequences, and a chunk of a prompt. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { InferenceSession } from 'onnxruntime-node';
import { compileDecoder } from '#engine/onnx-compiler';
import { table } from '../harness/markdown.js';
import { quantile } from '../harness/interleave.js';
import type { Subject } from '../harness/subject.js';
import { cacheFeeds } from './cache-feeds.js';
import { benchFolder, randomDecoder } from './models.js';

const passes = [
  { name: '1 × 1 token, past 128', batch: 1, tokens: 1, past: 128 },
  { name: '8 × 1 token, past 128', batch: 8, tokens: 1, past: 128 },
  { name: '1 × 64 tokens, past 128', batch: 1, tokens: 64, past: 128 },
  { name: '1 × 64 tokens, past 640', batch: 1, tokens: 64, past: 640 },
];
const runs = 20;
/** Operators with a row of their own; the others are summed. */
const shown = 8;

interface ProfileEvent {
  cat: string;
  name: string;
  dur: number;
  args?: { op_name?: string };
}

/** Returns milliseconds per run by operator, and the time of a whole run without the profiler. */
async function measure(
  file: string,
  { batch, tokens, past }: (typeof passes)[number],
  kv: 'int8' | 'float',
  threads: number,
): Promise<{ median: number; operators: Map<string, number> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-profile-'));
  const options = { intraOpNumThreads: threads, logSeverityLevel: 3 } as const;
  const feeds = cacheFeeds(kv, batch, past, tokens);
  const plain = await InferenceSession.create(file, options);
  const times: number[] = [];
  for (let run = 0; run < runs + 3; run++) {
    const startedAt = performance.now();
    await plain.run(feeds);
    if (run >= 3) times.push(performance.now() - startedAt);
  }
  await plain.release();
  const profileFilePrefix = path.join(folder, 'profile');
  const profiled = await InferenceSession.create(file, {
    ...options,
    enableProfiling: true,
    profileFilePrefix,
  });
  for (let run = 0; run < runs; run++) await profiled.run(feeds);
  profiled.endProfiling();
  await profiled.release();
  const [profile = ''] = await readdir(folder);
  const events = JSON.parse(await readFile(path.join(folder, profile), 'utf8')) as ProfileEvent[];
  await rm(folder, { recursive: true });
  const operators = new Map<string, number>();
  for (const { cat, name, dur, args } of events) {
    if (cat !== 'Node' || !name.endsWith('_kernel_time')) continue;
    const operator = args?.op_name ?? '';
    operators.set(operator, (operators.get(operator) ?? 0) + dur / 1000 / runs);
  }
  return { median: quantile(times, 0.5), operators };
}

export const subject: Subject = {
  async run({ threads }) {
    const directory = await randomDecoder();
    const sections: string[] = [];
    for (const kv of ['float', 'int8'] as const) {
      const cacheDir = path.join(benchFolder, 'compiled');
      const { onnxPath } = await compileDecoder(directory, { cacheDir, weights: 'int8', kv });
      const measured: Awaited<ReturnType<typeof measure>>[] = [];
      for (const pass of passes) measured.push(await measure(onnxPath, pass, kv, threads));
      const total = (operator: string) =>
        measured.reduce((sum, { operators }) => sum + (operators.get(operator) ?? 0), 0);
      const names = [...new Set(measured.flatMap(({ operators }) => [...operators.keys()]))];
      const ranked = names.toSorted((left, right) => total(right) - total(left));
      const row = (name: string, operators: readonly string[]) => [
        name,
        ...measured.map((one) =>
          operators.reduce((sum, operator) => sum + (one.operators.get(operator) ?? 0), 0).toFixed(2),
        ),
      ];
      const rows = [
        ['a whole pass, not profiled', ...measured.map(({ median }) => median.toFixed(2))],
        ...ranked.slice(0, shown).map((operator) => row(operator, [operator])),
        row('all others', ranked.slice(shown)),
      ];
      sections.push(`### ${kv} cache\n\n${table(['milliseconds', ...passes.map(({ name }) => name)], rows)}`);
    }
    return [
      '## Profile of a pass',
      'A 135M-shaped model, int8 weights; the profiler itself takes some time of every operator.',
      ...sections,
    ].join('\n\n');
  },
};
