/**
 * Measures the time before an engine has the prompt of an answer, in this checkout against another one:
 * `npm run bench -- evidence-latency --against CHECKOUT`. Both are built and run by their own launcher; they take turns.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from '#platform/foundation';
import { cleanEnvironment, createTemporaryDirectory, freePort } from '#platform/testing';
import { ingest } from '../answers/ask.js';
import { halfOf } from '../answers/questions.js';
import { quantile } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import type { BenchOptions, Subject } from '../harness/subject.js';
import { startEngine, type RecordingEngine } from './engine.js';
import { readDocuments, readQuestions, type Document, type EvidenceQuestion } from './questions.js';

const model = 'recorder';
const window = 131_072;
/** Ports of services that only their own stack asks. */
const inner = ['EMBEDDING', 'RETRIEVAL', 'RERANKING', 'LLM', 'DATAPREP', 'GUARDRAIL', 'ASR', 'TTS'];

/** A running checkout, with the milliseconds of its answers. */
interface Contender {
  readonly name: string;
  readonly url: string;
  readonly first: number[];
  readonly followUp: number[];
  stop(): Promise<void>;
}

/** Starts the launcher of a built checkout on free ports, with the documents of the benchmark. */
async function start(name: string, checkout: string, engine: RecordingEngine): Promise<Contender> {
  const directory = await createTemporaryDirectory();
  const port = await freePort();
  const child = spawn(process.execPath, [join(checkout, 'dist', 'launcher.js')], {
    cwd: checkout,
    env: {
      ...cleanEnvironment(),
      ...Object.fromEntries(inner.map((service) => [`${service}_PORT`, '0'])),
      GATEWAY_PORT: `${port}`,
      MEGANEST_DATA_DIR: directory.path,
      MEGANEST_SAMPLE_DOCUMENTS: 'false',
      RATE_LIMIT_PER_MINUTE: '0',
      LLM_ENDPOINT: engine.url,
      LLM_MODEL_ID: model,
    },
    // The launcher ends with its standard input.
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.stdin.end();
    child.kill('SIGTERM');
    await exited;
    await directory.remove();
  };
  try {
    await untilReady(child.stdout, exited);
    const url = `http://127.0.0.1:${port}`;
    const documents = readDocuments();
    for (const kind of new Set(documents.map((each) => each.kind))) await ingestKind(url, kind, documents);
    return { name, url, first: [], followUp: [], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilReady(output: NodeJS.ReadableStream, exited: Promise<unknown>): Promise<void> {
  const lines = createInterface({ input: output });
  const ready = (async () => {
    for await (const line of lines) if (/MegaNest is ready/.test(line)) return;
  })();
  await Promise.race([ready, exited.then(() => Promise.reject(new Error('The launcher ended')))]);
  // The launcher would block on a full pipe.
  output.resume();
}

const ingestKind = (url: string, kind: string, documents: readonly Document[]) =>
  ingest(
    url,
    kind,
    documents.filter((document) => document.kind === kind),
  );

/** Milliseconds from the request to the engine's receipt of the last prompt that it got for it. */
async function timeOf(url: string, engine: RecordingEngine, kind: string, turns: readonly string[]) {
  engine.prompts.length = 0;
  const messages = turns.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
  const startedAt = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chatqna', messages, collection: kind }),
  });
  const text = await response.text();
  const prompt = engine.prompts.at(-1);
  if (!response.ok || !prompt) throw new Error(`${url}: ${response.status} ${text}`);
  return prompt.at - startedAt;
}

/** Asks a question of a contender, first alone and then after another turn about the same. */
async function measure(
  contender: Contender,
  engine: RecordingEngine,
  question: EvidenceQuestion,
  counts: boolean,
) {
  const { kind, turns } = question;
  engine.queries = question.queries;
  const first = await timeOf(contender.url, engine, kind, [turns[0]!]);
  const dialogue =
    turns.length > 1 ? turns : [turns[0]!, 'The answer is in the documents [1].', 'Why is that so?'];
  const followUp = await timeOf(contender.url, engine, kind, dialogue);
  if (!counts) return;
  contender.first.push(first);
  contender.followUp.push(followUp);
}

function report(contenders: readonly Contender[], questions: number): string {
  const of = (times: readonly number[]) => [quantile(times, 0.5), quantile(times, 0.9)];
  const [own, other] = contenders.map(({ first, followUp }) => [...of(first), ...of(followUp)]);
  const ratios = own!.map((value, index) => (value / other![index]!).toFixed(2));
  const head = ['', 'first question p50 ms', 'p90', 'follow-up p50 ms', 'p90'];
  const rows = contenders.map(({ name }, index) => [
    name,
    ...[own!, other!][index]!.map((value) => value.toFixed(0)),
  ]);
  return `## Time before the engine has the prompt\n\n${questions} questions in turns, before an engine that answers at once; the first turn of each does not count.\n\n${table(head, [...rows, ['ratio', ...ratios]])}`;
}

/** The time before the engine, of this checkout against the one of `--against`. */
export const subject: Subject = {
  async run({ against, rounds, half }: BenchOptions) {
    if (against === undefined) throw new Error('evidence-latency needs --against CHECKOUT, which is built');
    const questions = readQuestions().filter(({ id }) => half === 'both' || halfOf(id) === half);
    const engine = await startEngine({ [model]: window });
    const contenders: Contender[] = [];
    try {
      contenders.push(await start('this', projectRoot, engine), await start('other', against, engine));
      for (let round = 0; round <= rounds; round += 1)
        for (const question of questions)
          for (const contender of round % 2 === 0 ? contenders : contenders.toReversed())
            await measure(contender, engine, question, round > 0);
      return report(contenders, questions.length);
    } finally {
      for (const contender of contenders) await contender.stop();
      await engine.close();
    }
  },
};
