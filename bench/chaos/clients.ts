import { setTimeout as wait } from 'node:timers/promises';
import { chatOutcome } from '../load/drive.js';
import { persistentFetch, type Answered, type Patience } from './persistent-fetch.js';

/** The collection of the documents that the clients send; the chats search another. */
export const collection = 'chaos';

/** Requests of the clients, and their answers. */
export interface Ledger {
  chats: Answered[];
  /** `name` of the document, and the number of its numbered passages. */
  documents: { name: string; passages: number; answer: Answered }[];
  runs: { key: string; id?: string; status: string; text: string; answer: Answered }[];
  /** A spoken sentence, and its transcript. */
  speech: Answered[];
}

export interface ClientOptions {
  url: string;
  patience: Patience;
  questions: readonly string[];
  signal: AbortSignal;
}

/** Keeps clients of three kinds busy until the signal aborts; resolves when the last request has its answer. */
export async function keepBusy(
  options: ClientOptions,
  { chats, ingests, runs, speakers }: { chats: number; ingests: number; runs: number; speakers: number },
): Promise<Ledger> {
  const ledger: Ledger = { chats: [], documents: [], runs: [], speech: [] };
  const repeat = async (count: number, work: (turn: string) => Promise<void>) => {
    const client = async (index: number) => {
      for (let turn = 0; !options.signal.aborted; turn += 1) await work(`${index}-${turn}`);
    };
    await Promise.all(Array.from({ length: count }, (_unused, index) => client(index)));
  };
  let turns = 0;
  await Promise.all([
    repeat(chats, async () => void ledger.chats.push(await chat(options, turns++))),
    repeat(ingests, async (turn) => void ledger.documents.push(await ingest(options, turn, turns++))),
    repeat(runs, async (turn) => void ledger.runs.push(await run(options, turn))),
    repeat(speakers, async () => void ledger.speech.push(...(await speak(options)))),
  ]);
  return ledger;
}

function post(url: string, body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/**
 * Every other chat is streamed, every fourth one guarded; a chat whose stream is cut off is sent again, as a user
 * would.
 */
function chat({ url, patience, questions }: ClientOptions, turn: number): Promise<Answered> {
  const stream = turn % 2 === 0;
  const content = questions[turn % questions.length];
  const model = turn % 4 < 3 ? 'chatqna' : 'chatqna-guarded';
  const body = { model, stream, messages: [{ role: 'user', content }] };
  return persistentFetch(
    () => post(`${url}/v1/chat/completions`, body),
    patience,
    stream
      ? (text) => chatOutcome(text) === 'answered'
      : (text) => /"finish_reason":"(stop|length)"/.test(text),
  );
}

/** Converts a sentence to speech, and transcribes the speech. */
async function speak({ url, patience }: ClientOptions): Promise<Answered[]> {
  const input = { model: 'flite', input: 'Good morning.', response_format: 'wav' };
  let audio = Buffer.alloc(0);
  const spoken = await persistentFetch(
    () => post(`${url}/v1/audio/speech`, input),
    patience,
    (_text, bytes) => (audio = bytes).length > 1_000,
  );
  if (spoken.status !== 200) return [spoken];
  const heard = await persistentFetch(() => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(audio)]), 'spoken.wav');
    form.append('model', 'nano-asr');
    return new Request(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
  }, patience);
  return [{ ...spoken, text: '' }, heard];
}

/** Returns the text of a document: numbered passages, each of about one chunk. */
export function documentText(name: string, passages: number): string {
  const passage = (index: number) =>
    `## Passage ${index}\n\nPassage ${index} of ${name}. ${'The store keeps each passage of a document or none of them. '.repeat(8)}`;
  return Array.from({ length: passages }, (_unused, index) => passage(index)).join('\n\n');
}

async function ingest({ url, patience }: ClientOptions, turn: string, count: number) {
  const name = `chaos-${turn}.md`;
  // Some fit into one transaction, others are written in parts.
  const passages = count % 3 === 0 ? 120 : 6;
  const inBackground = count % 2 === 0;
  const makeRequest = () => {
    const form = new FormData();
    form.append('files', new Blob([documentText(name, passages)]), name);
    form.append('collection', collection);
    if (inBackground) form.append('async', 'true');
    return new Request(`${url}/v1/dataprep/ingest`, { method: 'POST', body: form });
  };
  const answer = await persistentFetch(makeRequest, patience);
  if (!inBackground || answer.status === 0 || answer.status >= 300) return { name, passages, answer };
  const { id } = JSON.parse(answer.text) as { id: string };
  const { answer: end, body } = await pollUntilEnded(
    `${url}/v1/dataprep/jobs/${id}`,
    patience,
    'queued',
    'running',
  );
  return { name, passages, answer: stateOf(body) === 'succeeded' ? end : { ...end, status: 0 } };
}

async function run({ url, patience, questions }: ClientOptions, key: string) {
  const body = {
    model: 'chatqna',
    input: questions[key.length % questions.length],
    background: true,
    metadata: { run: key },
  };
  const headers = { 'idempotency-key': `chaos-${key}` };
  const answer = await persistentFetch(() => post(`${url}/v1/responses`, body, headers), patience);
  if (answer.status !== 200) return { key, status: 'refused', text: answer.text, answer };
  const { id } = JSON.parse(answer.text) as { id: string };
  const { answer: end, body: found } = await pollUntilEnded(
    `${url}/v1/responses/${id}`,
    patience,
    'queued',
    'in_progress',
  );
  const status = stateOf(found);
  const answered =
    status === 'completed' ? end : { ...end, text: `${status}: ${JSON.stringify(found.error)}` };
  return { key, id, status, text: JSON.stringify(found.output), answer: answered };
}

/** Jobs have a state, responses a status. */
function stateOf(body: Record<string, unknown>): string {
  return String(body.state ?? body.status);
}

/** Polls until the status is final; a run that does not end in time counts as a hang. */
async function pollUntilEnded(url: string, patience: Patience, ...passing: string[]) {
  const startedAt = performance.now();
  let slowestMs = 0;
  for (;;) {
    const answer = await persistentFetch(() => new Request(url), patience);
    slowestMs = Math.max(slowestMs, answer.slowestMs);
    const body: Record<string, unknown> =
      answer.status === 200 ? (JSON.parse(answer.text) as Record<string, unknown>) : { status: 'unknown' };
    const took = performance.now() - startedAt;
    const isHung = took > patience.limitMs;
    if (!passing.includes(stateOf(body)) || isHung)
      return { answer: { ...answer, slowestMs: isHung ? took : slowestMs }, body };
    await wait(300);
  }
}
