/** What reading, cutting, storing and the hops between them leave of the engine's rate: `npm run bench -- ingest`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadEmbedder } from '#encoders';
import { projectRoot } from '#paths';
import { findProgramsWithVector, startNativePostgres, startStack, type TestStack } from '#testing';
import { interleave, type Contender, type Result } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { benchFolder, bundledModel } from '../inference/models.js';
import { atOnce } from '../inference/texts.js';

const wordsOfText = 60;
/** Of one round: the many small files, and the one large one, have as many texts. */
const files = 40;
const textsOfFile = 10;
const texts = files * textsOfFile;
const engineName = 'the engine alone, two workers';

/** Words of this project's pages; each text is a draw of its own, so that nothing is embedded twice. */
const vocabulary = readdirSync(join(projectRoot, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => readFileSync(join(projectRoot, 'docs', name), 'utf8').match(/[a-z]{2,}/gi) ?? []);
let drawn = 0;

function drawText(): string {
  drawn += 1;
  const at = (index: number) => Math.imul(drawn * wordsOfText + index, 2_654_435_761) >>> 0;
  return Array.from(
    { length: wordsOfText },
    (_unused, index) => vocabulary[at(index) % vocabulary.length],
  ).join(' ');
}

async function upload(url: string, contents: readonly string[]): Promise<number> {
  const form = new FormData();
  drawn += 1;
  for (const [index, content] of contents.entries())
    form.append('files', new Blob([content]), `${drawn}-${index}.txt`);
  form.append('chunk_size', String(wordsOfText));
  form.append('chunk_overlap', '0');
  const answer = await fetch(`${url}/v1/dataprep/ingest`, { method: 'POST', body: form });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`ingest: ${answer.status} ${text}`);
  return texts;
}

const paragraphs = (count: number) => Array.from({ length: count }, drawText).join('\n\n');

function contendersOf(name: string, stack: TestStack): Contender[] {
  const { url } = stack.service('gateway');
  return [
    {
      name: `${name}, ${files} files of ${textsOfFile} texts`,
      run: () =>
        upload(
          url,
          Array.from({ length: files }, () => paragraphs(textsOfFile)),
        ),
    },
    { name: `${name}, a file of ${texts} texts`, run: () => upload(url, [paragraphs(texts)]) },
  ];
}

const stackOptions = {
  services: ['embedding', 'retrieval', 'reranking', 'llm', 'dataprep', 'gateway'],
  env: { RATE_LIMIT_PER_MINUTE: '0', REQUEST_TIMEOUT_MS: '600000' },
} as const;

/** Measures with one stack at a time beside the engine: a second one would only take its memory. */
async function measureOn(name: string, rounds: number): Promise<Result[]> {
  const stack = await startStack(stackOptions);
  const engine = await loadEmbedder(bundledModel('nano-embed'), { workers: 2, cacheDirectory: benchFolder });
  try {
    const alone = async () => {
      const batches = Array.from({ length: Math.ceil(texts / 32) }, () =>
        Array.from({ length: 32 }, drawText),
      );
      return (await atOnce(batches, 4, (inputs) => engine.embed(inputs))) * 32;
    };
    return await interleave([{ name: engineName, run: alone }, ...contendersOf(name, stack)], rounds);
  } finally {
    await engine.close();
    await stack.stop().catch((error: unknown) => console.error(error));
  }
}

/** Native Postgres where one with pgvector is at hand: a database of its own for each stack. */
async function onNative<Value>(work: () => Promise<Value>): Promise<Value | string> {
  const found = findProgramsWithVector();
  if ('reason' in found) return found.reason;
  const postgres = await startNativePostgres(found.programs);
  process.env.DATABASE_URL = postgres.url;
  try {
    return await work();
  } finally {
    delete process.env.DATABASE_URL;
    await postgres.stop();
  }
}

function rowsOf(results: readonly Result[]): (string | number)[][] {
  const engine = results.find(({ name }) => name === engineName)!.perSecond;
  return results.map(({ name, perSecond }) => [
    name,
    perSecond.toPrecision(3),
    `${((100 * perSecond) / engine).toFixed(0)} %`,
  ]);
}

export const subject: Subject = {
  async run({ rounds }) {
    const native = await onNative(() => measureOn('native Postgres', rounds));
    const embedded = await measureOn('embedded Postgres', rounds);
    const head = ['', 'texts/s', 'share of the engine'];
    const sections = [
      typeof native === 'string' ? native : table(head, rowsOf(native)),
      table(head, rowsOf(embedded)),
    ];
    const grown = `Each round adds ${texts} texts a row to what is there already; the first, which does not count, meets an empty database.`;
    return [`## Ingestion\n\n${introduction} ${grown}`, ...sections].join('\n\n');
  },
};

const introduction = `Texts of ${wordsOfText} words, each a chunk, uploaded to the gateway in one request, against the same engine in this process
with the same texts, in turns. All services share the cores with the database.`;
