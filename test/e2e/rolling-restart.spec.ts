import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  allServices,
  repositoryRoot,
  startService,
  startStack,
  type ServiceName,
  type TestService,
  type TestStack,
} from '#platform/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ingestText } from './helpers/ingest.js';
import { keepAsking, keepSpeaking, type SocketTurns } from './helpers/socket-turns.js';

const question = 'What does the Quibblewick engine run on?';
const spokenQuestion = readFileSync(join(repositoryRoot, 'test/fixtures/asr/question.wav'));
const chats = 3;
const env = { SHUTDOWN_GRACE_MS: '60000', SHUTDOWN_DELAY_MS: '1000' };

let stack: TestStack;
/** Behind an imagined load balancer: it asks for readiness before each request. */
let gateways: TestService[];

beforeAll(async () => {
  stack = await startStack({ env });
  gateways = [stack.service('gateway')];
  await ingestText(gateways[0]!.url, 'engine.txt', 'The Quibblewick engine runs on fermented plum juice.');
});
afterAll(() => stack?.stop());

interface Load {
  /** What was answered whole, by what was asked for. */
  answers: Record<'chat' | 'ingest' | 'speech' | 'job' | 'response', number>;
  failures: string[];
  retries: number;
}

async function readyGateway(): Promise<string> {
  for (;;) {
    for (const { url } of gateways) {
      const answer = await fetch(`${url}/ready`).catch(() => undefined);
      if (answer?.status === 200) return url;
    }
    await delay(50);
  }
}

/** The texts of an error and its causes: a broken connection has its reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

/** Sends a request, a GET where it has no body, which a 503 may put off by its `Retry-After`; undefined, and a failure noted, where it is not answered whole. */
async function send(
  load: Load,
  path: string,
  makeBody: () => object | undefined,
  isWhole: (text: string) => boolean = () => true,
): Promise<Blob | undefined> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const made = makeBody();
    const isForm = made instanceof FormData;
    const response = await fetch(`${await readyGateway()}${path}`, {
      method: made ? 'POST' : 'GET',
      headers: isForm || !made ? {} : { 'content-type': 'application/json' },
      body: isForm ? made : made && JSON.stringify(made),
    }).catch(reasonOf);
    const body = typeof response === 'string' ? response : await response.blob().catch(reasonOf);
    if (typeof response !== 'string' && typeof body !== 'string') {
      if (response.ok && isWhole(await body.text())) return body;
      const retryAfter = response.headers.get('retry-after');
      if (response.status === 503 && retryAfter !== null) {
        load.retries += 1;
        await delay(1_000 * Number(retryAfter));
        continue;
      }
    }
    const status = typeof response === 'string' ? 'no answer' : response.status;
    const text = typeof body === 'string' ? body : await body.text();
    load.failures.push(`${path}: ${status} ${text.slice(-1_000)}`);
    return undefined;
  }
  load.failures.push(`${path}: refused three times`);
  return undefined;
}

/** One streamed, guarded chat. */
async function chat(load: Load): Promise<void> {
  const body = { model: 'chatqna-guarded', messages: [{ role: 'user', content: question }], stream: true };
  const isWhole = (text: string) => text.includes('data: [DONE]') && !text.includes('"error"');
  if (await send(load, '/v1/chat/completions', () => body, isWhole)) load.answers.chat += 1;
}

function documentForm(name: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  form.append('files', new Blob([`The file ${name} is about winter tires.`]), name);
  for (const [field, value] of Object.entries({ collection: 'under-load', ...fields }))
    form.append(field, value);
  return form;
}

/** One document, stored. */
async function ingest(load: Load): Promise<void> {
  const name = `document-${load.answers.ingest}.txt`;
  if (await send(load, '/v1/dataprep/ingest', () => documentForm(name))) load.answers.ingest += 1;
}

/** Work that goes on after its request was answered: begun, and asked for until it has ended. True where it has ended well. */
async function follow(load: Load, path: string, makeBody: () => object, pathOf: (id: string) => string) {
  const begun = await send(load, path, makeBody);
  if (!begun) return false;
  const { id } = JSON.parse(await begun.text()) as { id: string };
  for (;;) {
    const answer = await send(load, pathOf(id), () => undefined);
    if (!answer) return false;
    const { state, status = state } = JSON.parse(await answer.text()) as { state?: string; status?: string };
    if (status === 'succeeded' || status === 'completed') return true;
    if (status === 'failed' || status === 'cancelled')
      load.failures.push(`${path}: ${(await answer.text()).slice(0, 1_000)}`);
    if (load.failures.length > 0) return false;
    await delay(100);
  }
}

/** One document, stored by a job. */
async function ingestInBackground(load: Load): Promise<void> {
  const makeBody = () => documentForm(`job-${load.answers.job}.txt`, { async: 'true' });
  if (await follow(load, '/v1/dataprep/ingest', makeBody, (id) => `/v1/dataprep/jobs/${id}`))
    load.answers.job += 1;
}

/** One answer, written in the background. */
async function respondInBackground(load: Load): Promise<void> {
  const body = { model: 'chatqna', input: question, background: true };
  if (
    await follow(
      load,
      '/v1/responses',
      () => body,
      (id) => `/v1/responses/${id}`,
    )
  )
    load.answers.response += 1;
}

/** A sentence, spoken and written down. */
async function speak(load: Load): Promise<void> {
  const input = { model: 'flite', input: 'Good morning.', response_format: 'wav' };
  const spoken = await send(load, '/v1/audio/speech', () => input);
  if (!spoken) return;
  const makeBody = () => {
    const form = new FormData();
    form.append('file', spoken, 'spoken.wav');
    form.append('model', 'nano-asr');
    return form;
  };
  if (await send(load, '/v1/audio/transcriptions', makeBody)) load.answers.speech += 1;
}

/** Starts another instance, and stops the one before it once the other serves. */
async function replace(name: ServiceName, old: TestService): Promise<TestService> {
  const next = await startService(name, stack.env);
  if (name === 'gateway') gateways = [next, old];
  await old.stop();
  expect(await old.process.whenFinished()).toMatchObject({ code: 0 });
  if (name === 'gateway') gateways = [next];
  return next;
}

it('loses no request while every service is replaced', async () => {
  const load: Load = {
    answers: { chat: 0, ingest: 0, speech: 0, job: 0, response: 0 },
    failures: [],
    retries: 0,
  };
  const run = { over: false };
  const repeat = async (work: (load: Load) => Promise<void>) => {
    while (!run.over && load.failures.length === 0) await work(load);
  };
  const work = [
    ...Array.from({ length: chats }, () => repeat(chat)),
    repeat(ingest),
    repeat(speak),
    repeat(ingestInBackground),
    repeat(respondInBackground),
  ];
  const started: TestService[] = [];
  const overSockets = { gateway: readyGateway, isOver: () => run.over || load.failures.length > 0 };
  let sockets: Promise<SocketTurns>[] = [];
  for (const name of allServices) {
    // The gateway comes last.
    if (name === 'gateway')
      sockets = [
        keepAsking(overSockets, { model: 'chatqna', input: question }),
        keepSpeaking(overSockets, spokenQuestion),
      ];
    for (const socket of sockets)
      socket.catch((error: unknown) => load.failures.push(`${name}: ${reasonOf(error)}`));
    const before = { ...load.answers };
    started.push(await replace(name, stack.service(name)));
    // The new instance has answered.
    const isAnswered = () =>
      load.answers.chat > before.chat + chats &&
      load.answers.ingest > before.ingest + 1 &&
      load.answers.speech > before.speech + 1;
    await expect.poll(() => load.failures.length > 0 || isAnswered()).toBe(true);
  }
  run.over = true;
  await Promise.all(work);
  const turns = await Promise.allSettled(sockets);
  await Promise.all(started.map((service) => service.stop()));
  expect(load.failures).toEqual([]);
  expect(load.retries).toBe(0);
  // Also while the services were replaced that work in the background.
  expect(Math.min(load.answers.job, load.answers.response)).toBeGreaterThan(allServices.length);
  // Each was asked to connect again, and went on over the next gateway.
  const positive = expect.toSatisfy((count: number) => count > 0) as number;
  for (const turn of turns) expect(turn).toMatchObject({ value: { turns: [positive, positive] } });
});
