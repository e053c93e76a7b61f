/**
 * The memory of every process while one text of `--megabytes` is ingested: `npm run bench -- large-text --megabytes 1000`. The
 * embedding service asks an engine in this process that answers at once: memory is the question, not speed.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { IngestJob } from '#platform/contracts';
import { startStack } from '#platform/testing';
import { table } from '../harness/markdown.js';
import { onNativePostgres } from '../harness/native.js';
import { memoryOf, readFamily } from '../harness/processes.js';
import type { Subject } from '../harness/subject.js';
import { drawText } from './drawn-texts.js';

const megabyte = 1_000_000;
const wordsOfParagraph = 100;
const wordsOfChunk = 1_000;
const dimensions = 384;
const boundary = 'the-end-of-the-text';
const parts = ['gateway', 'dataprep', 'reader', 'embedding', 'nats', 'postgres'];
/** The stages of the work, as the table shows them. */
const shares = [0.1, 0.5, 1];

/** What the parts had at a time, in bytes, and how much of the work was done. */
interface Sample {
  share: number;
  memory: Readonly<Record<string, number>>;
}

/** A server of Text Embeddings Inference's API that has one vector for all texts. */
async function startEngine() {
  const vector = `[${Array.from({ length: dimensions }, (_unused, index) => (index % 2 ? -0.05 : 0.05)).join(',')}]`;
  const server = createServer((request, response) => {
    const answer = (body: string) => response.setHeader('content-type', 'application/json').end(body);
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      if (request.url === '/info') {
        answer(
          JSON.stringify({ model_id: 'one-vector', max_input_length: 8_192, max_client_batch_size: 32 }),
        );
        return;
      }
      const { inputs } = JSON.parse(Buffer.concat(pieces).toString()) as { inputs: string[] };
      answer(`[${inputs.map(() => vector).join(',')}]`);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => server.close() };
}

/** A multipart form with one text, made while it is sent. */
function* formWith(bytes: number): Generator<string, void, void> {
  const field = (name: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  yield field('async', 'true') + field('chunk_size', String(wordsOfChunk)) + field('chunk_overlap', '0');
  yield `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="large.txt"\r\ncontent-type: text/plain\r\n\r\n`;
  for (let sent = 0; sent < bytes;) {
    const paragraph = `${drawText(wordsOfParagraph)}\n\n`;
    sent += paragraph.length;
    yield paragraph;
  }
  yield `\r\n--${boundary}--\r\n`;
}

/** Larger pieces, so that the client is not what takes the time. */
function* inPieces(texts: Iterable<string>, bytes = 256 * 1024): Generator<Uint8Array, void, void> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < bytes) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  yield Buffer.from(piece);
}

async function json<Answer>(answer: Response): Promise<Answer> {
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

function upload(url: string, bytes: number): Promise<IngestJob> {
  const init = {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: ReadableStream.from(inPieces(formWith(bytes))),
    duplex: 'half',
  };
  return fetch(`${url}/v1/dataprep/ingest`, init as RequestInit).then(json<IngestJob>);
}

/** Undefined where a busy machine does not answer in time. */
async function readJob(url: string, id: string): Promise<IngestJob | undefined> {
  const answer = await fetch(`${url}/v1/dataprep/jobs/${id}`);
  if (answer.status === 503) return undefined;
  return json<IngestJob>(answer);
}

function readMemory(): Record<string, number> {
  const memory: Record<string, number> = {};
  for (const { pid, part } of readFamily()) memory[part] = (memory[part] ?? 0) + memoryOf(pid);
  return memory;
}

/** Uploads, waits for the end of the job, and samples every second. */
async function measure(
  url: string,
  bytes: number,
): Promise<{ samples: Sample[]; chunks: number; seconds: number[] }> {
  const samples: Sample[] = [{ share: 0, memory: readMemory() }];
  const beganAt = performance.now();
  const state: { job?: IngestJob; isSent: boolean } = { isSent: false };
  const sending = upload(url, bytes).then((job) => (state.job = job));
  sending.catch(() => undefined);
  let sentAfter = 0;
  const expected = bytes / (drawText(wordsOfChunk).length + 1);
  for (;;) {
    await Promise.race([wait(1_000), ...(state.isSent ? [] : [sending])]);
    if (state.job && !state.isSent) {
      state.isSent = true;
      sentAfter = (performance.now() - beganAt) / 1000;
    }
    if (state.job) state.job = (await readJob(url, state.job.id)) ?? state.job;
    const { progress, state: stage, error } = state.job ?? {};
    const done = stage === 'succeeded' ? expected : (progress?.completed ?? 0);
    samples.push({ share: Math.min(1, done / expected), memory: readMemory() });
    if (samples.length % 20 === 0) console.error(lineOf(samples.at(-1)!));
    if (error) throw new Error(error.message);
    if (stage !== 'succeeded') continue;
    const chunks = progress?.documents?.[0]?.chunks ?? 0;
    return { samples, chunks, seconds: [sentAfter, (performance.now() - beganAt) / 1000] };
  }
}

const lineOf = ({ share, memory }: Sample) =>
  [`${(100 * share).toFixed(1)} %`, ...parts.map((part) => `${part} ${megabytes(memory[part])}`)].join(', ');

const megabytes = (bytes = 0) => Math.round(bytes / 2 ** 20);

function rowsOf(samples: readonly Sample[]): (string | number)[][] {
  return parts.map((part) => {
    const most = (from: number, to: number) =>
      megabytes(
        Math.max(
          0,
          ...samples
            .filter(({ share }) => share >= from && share <= to)
            .map(({ memory }) => memory[part] ?? 0),
        ),
      );
    const stages = shares.map((share, index) => most(shares[index - 1] ?? Number.MIN_VALUE, share));
    return [part, megabytes(samples[0]?.memory[part]), most(0, 0), ...stages];
  });
}

export const subject: Subject = {
  async run({ megabytes: size }) {
    const engine = await startEngine();
    const limit = String(2 * size * megabyte);
    const run = async () => {
      const stack = await startStack({
        services: ['embedding', 'retrieval', 'reranking', 'llm', 'dataprep', 'gateway'],
        env: {
          TEI_EMBEDDING_ENDPOINT: engine.url,
          UPLOAD_LIMIT_BYTES: limit,
          UPLOAD_FILE_LIMIT_BYTES: limit,
          DOCUMENTS_LIMIT_BYTES: '0',
          REQUEST_TIMEOUT_MS: '3600000',
        },
      });
      try {
        return await measure(stack.service('gateway').url, size * megabyte);
      } finally {
        await stack.stop().catch((error: unknown) => console.error(error));
      }
    };
    const native = await onNativePostgres(run);
    const { samples, chunks, seconds } = typeof native === 'string' ? await run() : native;
    engine.stop();
    const [sent, all] = seconds.map((value) => value.toFixed(0));
    const head = ['MiB', 'before', 'while it is sent', 'to 10 % of the chunks', 'to 50 %', 'to the end'];
    return [
      '## A large text',
      `One plain text of ${size} MB in one upload: sent after ${sent} s, ${chunks} chunks of ${wordsOfChunk} words stored after ${all} s. The
most memory of each part in each stage (proportional set size; of several processes the sum; reader: the processes of dataprep that
read; postgres: ${typeof native === 'string' ? 'the embedded one' : 'native, 128 MB of shared buffers'}). The embedding service asks a server that answers at once.`,
      table(head, rowsOf(samples)),
    ].join('\n\n');
  },
};
