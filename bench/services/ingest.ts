/** What reading, cutting, storing and the hops between them leave of the engine's rate: `npm run bench -- ingest`. */
import { loadEmbedder } from '#engine/encoders';
import { startStack, type TestStack } from '#platform/testing';
import { interleave, type Contender, type Result } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import { onNativePostgres } from '../harness/native.js';
import { familySeconds } from '../harness/processes.js';
import type { Subject } from '../harness/subject.js';
import { benchFolder, bundledModel } from '../inference/models.js';
import { atOnce } from '../inference/texts.js';
import { drawText } from './drawn-texts.js';

const wordsOfText = 60;
/** Texts of one round, the same for each contender: a shorter upload would mostly measure its start and its end. */
const texts = 400;
const textsOfFile = 2;
const files = texts / textsOfFile;
/** Texts of a request to the engine. */
const batchSize = 32;
const engineName = 'the engine alone, two workers';

let uploads = 0;

/** An upload of texts of 60 words, encoded, so that its sender takes little of the processor. */
export interface EncodedUpload {
  type: string;
  body: Uint8Array<ArrayBuffer>;
}

/** Encodes files of texts of 60 words as a form. */
export async function encodeUpload(
  contents: readonly string[],
  collection = 'default',
): Promise<EncodedUpload> {
  const form = new FormData();
  uploads += 1;
  for (const [index, content] of contents.entries())
    form.append('files', new Blob([content]), `${uploads}-${index}.txt`);
  form.append('chunk_size', String(wordsOfText));
  form.append('chunk_overlap', '0');
  form.append('collection', collection);
  const encoded = new Response(form);
  const body = new Uint8Array(await encoded.arrayBuffer());
  return { type: encoded.headers.get('content-type')!, body };
}

/** Sends an upload to the gateway and waits until its files are stored. Errors: any answer but a success. */
export async function send(
  url: string,
  { type, body }: EncodedUpload,
  headers?: Record<string, string>,
): Promise<void> {
  const answer = await fetch(`${url}/v1/dataprep/ingest`, {
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`ingest: ${answer.status} ${text}`);
}

const paragraphs = (count: number) => Array.from({ length: count }, () => drawText(wordsOfText)).join('\n\n');

function contendersOf(name: string, stack: TestStack): Contender[] {
  const { url } = stack.service('gateway');
  const contender = (what: string, collection: string, drawFiles: () => string[]): Contender => {
    let next: EncodedUpload;
    return {
      name: `${name}, ${what}`,
      prepare: async () => {
        next = await encodeUpload(drawFiles(), collection);
      },
      run: async () => {
        await send(url, next);
        return texts;
      },
    };
  };
  return [
    contender(`${files} files of ${textsOfFile} texts`, 'small-files', () =>
      Array.from({ length: files }, () => paragraphs(textsOfFile)),
    ),
    contender(`a file of ${texts} texts`, 'large-files', () => [paragraphs(texts)]),
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
    let batches: string[][] = [];
    const alone: Contender = {
      name: engineName,
      prepare: () => {
        const length = Math.ceil(texts / batchSize);
        batches = Array.from({ length }, () =>
          Array.from({ length: batchSize }, () => drawText(wordsOfText)),
        );
        return Promise.resolve();
      },
      run: async () => (await atOnce(batches, 4, (inputs) => engine.embed(inputs))) * batchSize,
    };
    const contenders = [alone, ...contendersOf(name, stack)];
    const used = new Map(contenders.map((contender) => [contender.name, { seconds: 0, texts: 0 }]));
    const counting = contenders.map((contender) => ({
      ...contender,
      run: () => countProcessor(contender, used.get(contender.name)!),
    }));
    const results = await interleave(counting, rounds);
    return results.map(({ name: contender, perSecond }) => {
      const { seconds, texts: embedded } = used.get(contender)!;
      return { name: contender, perSecond, perCpuSecond: embedded / seconds };
    });
  } finally {
    await engine.close();
    await stack.stop().catch((error: unknown) => console.error(error));
  }
}

/** Adds up the texts of a contender and the processor time that this process and all that it started took. */
async function countProcessor({ run }: Contender, used: { seconds: number; texts: number }): Promise<number> {
  const before = familySeconds();
  const done = await run();
  used.seconds += familySeconds() - before;
  used.texts += done;
  return done;
}

function rowsOf(results: readonly Result[]): (string | number)[][] {
  const engine = results.find(({ name }) => name === engineName)!;
  const share = (value: number, whole: number) => `${((100 * value) / whole).toFixed(0)} %`;
  return results.map(({ name, perSecond, perCpuSecond }) => [
    name,
    perSecond.toPrecision(3),
    share(perSecond, engine.perSecond),
    perCpuSecond.toPrecision(3),
    share(perCpuSecond, engine.perCpuSecond),
  ]);
}

export const subject: Subject = {
  async run({ rounds }) {
    const native = await onNativePostgres(() => measureOn('native Postgres', rounds));
    const embedded = await measureOn('embedded Postgres', rounds);
    const head = ['', 'texts/s', 'share of the engine', 'texts per CPU second', 'share of the engine'];
    const sections = [
      typeof native === 'string' ? native : table(head, rowsOf(native)),
      table(head, rowsOf(embedded)),
    ];
    return [`## Ingestion\n\n${introduction}`, ...sections].join('\n\n');
  },
};

const introduction = `${texts} texts of ${wordsOfText} words, each a chunk, uploaded to the gateway in one request that was encoded before, against the same engine in this process
with such texts, in turns; what is stored stays, small and large files in a collection each. All services share the cores with the database. On a machine that is busy many processes get
more of it than two threads do: the share by processor time, of all processes together, has no such favor.`;
