/**
 * Measures retrieval as a loop: questions whose answer needs two documents, joined by a name, are searched for once and by
 * `search-loop`, with the same number of passages.
 */
import { startStack } from '#platform/testing';
import { ingest } from '../answers/ask.js';
import { halfOf, readQuestions as readSingle } from '../answers/questions.js';
import { quantile } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import { familySeconds } from '../harness/processes.js';
import type { BenchOptions, Subject } from '../harness/subject.js';
import { fileOf, readDocuments, readQuestions } from './questions.js';

const collection = 'two-hop';
const contenders = [
  { name: 'one search', path: '/v1/retrievaltool' },
  { name: 'loop', path: '/v1/search-loop' },
] as const;
type Name = (typeof contenders)[number]['name'];
/** Numbers of passages. */
const sizes = [4, 6, 8];
/** Attempts for a step that a busy machine skipped, since the benchmark measures complete runs. */
const maxAttempts = 4;

/** A question and the files that its evidence has to have. */
interface Asked {
  readonly kind: 'two documents' | 'one document';
  readonly question: string;
  readonly files: readonly string[];
}

interface Measured extends Pick<Asked, 'kind'> {
  readonly name: Name;
  readonly size: number;
  readonly complete: boolean;
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
}

/** The two-hop questions of the half, and as many of the subject `answers` with one document. */
function chosen({ half }: BenchOptions): Asked[] {
  const isChosen = (one: string) => half === 'both' || one === half;
  const two = readQuestions().filter((question) => isChosen(question.half));
  const single = readSingle().filter(
    ({ id, turns, documents }) => isChosen(halfOf(id)) && turns.length === 1 && documents.length === 1,
  );
  const stride = Math.max(1, Math.floor(single.length / two.length));
  const one = single.filter((_, index) => index % stride === 0).slice(0, two.length);
  return [
    ...two.map((question): Asked => ({
      kind: 'two documents',
      question: question.question,
      files: [fileOf(question, 'first'), fileOf(question, 'second')],
    })),
    ...one.map(({ turns, documents }): Asked => ({
      kind: 'one document',
      question: turns[0]!,
      files: documents,
    })),
  ];
}

interface Found {
  reranked_docs?: { metadata: { filename?: string } }[];
}

async function search(url: string, asked: Asked, size: number, { name, path }: (typeof contenders)[number]) {
  const body = JSON.stringify({ text: asked.question, collection, k: 20, top_n: size });
  for (let attempt = 1; ; attempt += 1) {
    const [cpuBefore, startedAt] = [familySeconds(), performance.now()];
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`${asked.question}: ${response.status} ${await response.text()}`);
    const { reranked_docs: found = [] } = (await response.json()) as Found;
    const milliseconds = performance.now() - startedAt;
    if (response.headers.has('x-meganest-degraded') && attempt < maxAttempts) continue;
    const names = new Set(found.map(({ metadata }) => metadata.filename));
    const complete = asked.files.every((file) => names.has(file));
    const cpuMilliseconds = (familySeconds() - cpuBefore) * 1000;
    return { kind: asked.kind, name, size, complete, milliseconds, cpuMilliseconds } satisfies Measured;
  }
}

function report(measured: readonly Measured[]): string {
  const rows = (['two documents', 'one document'] as const).flatMap((kind) =>
    sizes.map((size) => {
      const of = (name: Name) =>
        measured.filter((each) => each.kind === kind && each.size === size && each.name === name);
      const share = (name: Name) =>
        (100 * of(name).filter(({ complete }) => complete).length) / of(name).length;
      const p95 = (name: Name) =>
        quantile(
          of(name).map(({ milliseconds }) => milliseconds),
          0.95,
        );
      const cpu = (name: Name) =>
        of(name).reduce((sum, { cpuMilliseconds }) => sum + cpuMilliseconds, 0) / of(name).length;
      const [once, loop] = contenders.map(({ name }) => name) as [Name, Name];
      return [
        kind,
        size,
        share(once).toFixed(1),
        share(loop).toFixed(1),
        `${p95(once).toFixed(0)}, ${p95(loop).toFixed(0)}`,
        (p95(loop) / p95(once)).toFixed(2),
        (cpu(loop) / cpu(once)).toFixed(2),
      ];
    }),
  );
  const head = [
    'questions with',
    'passages',
    'one search, %',
    'loop, %',
    'p95 in ms',
    'ratio',
    'ratio of processor time',
  ];
  return table(head, rows);
}

/** Evidence of one search against that of a loop. */
export const subject: Subject = {
  async run(options) {
    const asked = chosen(options);
    const documents = readDocuments(readQuestions());
    const stack = await startStack({
      services: ['embedding', 'reranking', 'retrieval', 'dataprep', 'llm', 'gateway'],
      env: { RATE_LIMIT_PER_MINUTE: '0', REQUEST_TIMEOUT_MS: '120000', WEB_UI: 'false' },
    });
    try {
      const { url } = stack.service('gateway');
      await ingest(url, collection, documents);
      // The first request of a process is slow.
      for (const contender of contenders) await search(url, asked[0]!, 4, contender);
      const measured: Measured[] = [];
      for (const one of asked)
        for (const size of sizes)
          for (const contender of contenders) measured.push(await search(url, one, size, contender));
      const two = asked.filter(({ kind }) => kind === 'two documents').length;
      const legend = `${two} questions that need two documents, joined by a name that the question does not have, and ${asked.length - two} questions
that need one document; ${documents.length} documents in one collection, among them two siblings of each second document. The columns with % say for how many
questions all these documents are in the evidence.`;
      return `## Search once or in a loop\n\n${legend}\n\n${report(measured)}`;
    } finally {
      await stack.stop().catch((error: unknown) => console.error(error));
    }
  },
};
