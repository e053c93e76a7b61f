/**
 * Runs the benchmarks: `npm run bench -- <subject> [--threads N] [--rounds N] [--requests N] [--write]`. The subjects are
 * listed below; `answers`, `evidence` and `two-hop` also take [--half tune|held|both] [--only KIND] [--together] [--answers FILE]; `evidence-latency` takes --against CHECKOUT; `all` runs the main ones, each in a process of its own. `--write` writes the section into
 * docs/benchmarks.md; the machine should be idle then.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { builtFile } from '#platform/foundation';
import { writeSection } from './harness/document.js';
import { machine } from './harness/markdown.js';
import type { Subject } from './harness/subject.js';

/** The subjects of `all`, in this order. */
const main = ['embedding', 'rerank', 'decode', 'prefill', 'pipeline', 'gateway', 'soak'] as const;

const subjects: Readonly<Record<string, () => Promise<{ subject: Subject }>>> = {
  embedding: () => import('./inference/embedding.js'),
  rerank: () => import('./inference/rerank.js'),
  decode: () => import('./inference/decode.js'),
  prefill: () => import('./inference/prefill.js'),
  pipeline: () => import('./services/pipeline.js'),
  gateway: () => import('./services/gateway.js'),
  ingest: () => import('./services/ingest.js'),
  instances: () => import('./services/instances.js'),
  growth: () => import('./services/growth.js'),
  answers: () => import('./answers/subject.js'),
  evidence: () => import('./evidence/subject.js'),
  documents: () => import('./documents/subject.js'),
  'two-hop': () => import('./two-hop/subject.js'),
  'evidence-latency': () => import('./evidence/latency.js'),
  soak: () => import('./services/soak.js'),
  transcription: () => import('./asr/transcription.js'),
  constraint: () => import('./inference/constraint.js'),
  exactness: () => import('./inference/exactness.js'),
  weights: () => import('./inference/weights.js'),
  footprint: () => import('./inference/footprint.js'),
  profile: () => import('./inference/profile.js'),
};

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    requests: { type: 'string', default: '10000' },
    half: { type: 'string', default: 'tune' },
    only: { type: 'string' },
    together: { type: 'boolean', default: false },
    answers: { type: 'string' },
    against: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

async function measure(name: string): Promise<void> {
  const { subject } = await subjects[name]!();
  const options = {
    threads: Number(flags.threads),
    rounds: Number(flags.rounds),
    requests: Number(flags.requests),
    half: z.enum(['tune', 'held', 'both']).parse(flags.half),
    only: flags.only,
    together: flags.together,
    answers: flags.answers,
    against: flags.against,
  };
  const section = `${await subject.run(options)}\n\n${machine()}; ${options.threads} thread(s), ${options.rounds} rounds.`;
  console.log(section);
  if (flags.write) writeSection(name, `npm run bench -- ${name}`, section);
}

/** Runs a subject in a process of its own, so that subjects do not affect each other. Returns the exit code. */
async function measureApart(name: string): Promise<number> {
  const own = process.argv.slice(2).filter((argument) => argument !== 'all');
  const child = spawn(process.execPath, [...process.execArgv, builtFile('bench'), name, ...own], {
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

const [name = ''] = positionals;
if (name === 'all') {
  for (const each of main) if ((await measureApart(each)) !== 0) process.exitCode = 1;
} else if (name in subjects) {
  await measure(name);
} else {
  console.error(
    `Usage: npm run bench -- ${[...Object.keys(subjects), 'all'].join('|')} [--threads N] [--rounds N] [--write]`,
  );
  process.exitCode = 2;
}
