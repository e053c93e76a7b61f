import { setTimeout as delay } from 'node:timers/promises';
import { startService, startStack, type ServiceName, type TestService, type TestStack } from '#testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ingestText } from './helpers/ingest.js';

const question = 'What does the Quibblewick engine run on?';
const workers = 3;
const env = { SHUTDOWN_GRACE_MS: '60000', SHUTDOWN_DELAY_MS: '1000' };

let stack: TestStack;
/** Behind an imagined load balancer: it asks for readiness before each request. */
let gateways: TestService[];

beforeAll(async () => {
  stack = await startStack({
    services: ['embedding', 'retrieval', 'reranking', 'llm', 'dataprep', 'gateway'],
    env,
  });
  gateways = [stack.service('gateway')];
  await ingestText(gateways[0]!.url, 'engine.txt', 'The Quibblewick engine runs on fermented plum juice.');
});
afterAll(() => stack?.stop());

interface Load {
  answers: string[];
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

/** One streamed chat: its whole text, or why there is none. A refusal that says when to come back is followed. */
async function chat(load: Load): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const response = await fetch(`${await readyGateway()}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: question, stream: true }),
    }).catch((error: unknown) => String(error));
    if (typeof response === 'string') return void load.failures.push(response);
    const text = await response.text().catch(String);
    if (response.status === 503 && response.headers.has('retry-after')) {
      load.retries += 1;
      await delay(1_000 * Number(response.headers.get('retry-after')));
      continue;
    }
    const whole = response.status === 200 && text.includes('data: [DONE]') && !text.includes('"error"');
    (whole ? load.answers : load.failures).push(text);
    return;
  }
  load.failures.push('refused three times');
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
  const load: Load = { answers: [], failures: [], retries: 0 };
  const run = { over: false };
  const work = Array.from({ length: workers }, async () => {
    while (!run.over) await chat(load);
  });
  const started: TestService[] = [];
  for (const name of ['llm', 'embedding', 'retrieval', 'reranking', 'gateway'] as const) {
    const before = load.answers.length;
    started.push(await replace(name, stack.service(name)));
    // The new instance has answered.
    await expect.poll(() => load.failures.length > 0 || load.answers.length > before + workers).toBe(true);
  }
  run.over = true;
  await Promise.all(work);
  await Promise.all(started.map((service) => service.stop()));
  expect(load.failures).toEqual([]);
  expect(load.retries).toBe(0);
});
