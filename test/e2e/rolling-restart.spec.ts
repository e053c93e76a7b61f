import { setTimeout as delay } from 'node:timers/promises';
import {
  allServices,
  startService,
  startStack,
  type ServiceName,
  type TestService,
  type TestStack,
} from '#testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ingestText } from './helpers/ingest.js';

const question = 'What does the Quibblewick engine run on?';
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
  answers: Record<'chat' | 'ingest' | 'speech', number>;
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

/** Sends a request, which a 503 may put off by its `Retry-After`; undefined, and a failure noted, where it is not answered whole. */
async function send(
  load: Load,
  path: string,
  makeBody: () => object,
  isWhole: (text: string) => boolean = () => true,
): Promise<Blob | undefined> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const made = makeBody();
    const isForm = made instanceof FormData;
    const response = await fetch(`${await readyGateway()}${path}`, {
      method: 'POST',
      headers: isForm ? {} : { 'content-type': 'application/json' },
      body: isForm ? made : JSON.stringify(made),
    }).catch((error: unknown) => String(error));
    const body = typeof response === 'string' ? response : await response.blob().catch(String);
    if (typeof response !== 'string' && typeof body !== 'string') {
      if (response.status === 200 && isWhole(await body.text())) return body;
      const retryAfter = response.headers.get('retry-after');
      if (response.status === 503 && retryAfter !== null) {
        load.retries += 1;
        await delay(1_000 * Number(retryAfter));
        continue;
      }
    }
    load.failures.push(`${path}: ${typeof body === 'string' ? body : await body.text()}`);
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

/** One document, stored. */
async function ingest(load: Load): Promise<void> {
  const name = `document-${load.answers.ingest}.txt`;
  const makeBody = () => {
    const form = new FormData();
    form.append('files', new Blob([`The file ${name} is about winter tires.`]), name);
    form.append('collection', 'under-load');
    return form;
  };
  if (await send(load, '/v1/dataprep/ingest', makeBody)) load.answers.ingest += 1;
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
  const load: Load = { answers: { chat: 0, ingest: 0, speech: 0 }, failures: [], retries: 0 };
  const run = { over: false };
  const repeat = async (work: (load: Load) => Promise<void>) => {
    while (!run.over && load.failures.length === 0) await work(load);
  };
  const work = [...Array.from({ length: chats }, () => repeat(chat)), repeat(ingest), repeat(speak)];
  const started: TestService[] = [];
  for (const name of allServices) {
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
  await Promise.all(started.map((service) => service.stop()));
  expect(load.failures).toEqual([]);
  expect(load.retries).toBe(0);
});
