import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { engineModelSchema, engineSpecSchema, type EngineModelSettings } from '#platform/contracts';
import { afterEach, expect, it } from 'vitest';
import { sendJson, startEngine, type TestEngine } from '../engine.fixture.js';
import { EnginePool } from './engine-pool.js';
import type { EngineTimes } from './pool-entry.js';

/** What a scripted engine does with each request. */
type Mode = 'works' | 'dies' | 'hangs' | 'fails' | 'full';

interface Scripted {
  engine: TestEngine;
  mode: Mode;
  /** Answers that it has begun. */
  answers: number;
}

const times: EngineTimes = { suspectMs: 200, checkMs: 2_000, breaker: { pauseMs: 40, maxPauseMs: 200 } };
const patient = { timeout: 60_000, interval: 20 };
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function startScripted(mode: Mode = 'works', models = ['shared']): Promise<Scripted> {
  const scripted: Scripted = { engine: undefined as never, mode, answers: 0 };
  const serve =
    (answer: Parameters<typeof startEngine>[0][string]) =>
    async (...[response, request]: Parameters<typeof answer>) => {
      if (scripted.mode === 'dies') response.destroy();
      else if (scripted.mode !== 'hangs') await answer(response, request);
    };
  scripted.engine = await startEngine({
    '/v1/models': serve((response) =>
      sendJson(response, { data: models.map((id) => ({ id, owned_by: 'vllm', max_model_len: 4_096 })) }),
    ),
    '/v1/chat/completions': serve(async (response) => {
      if (scripted.mode === 'fails') return sendJson(response, { error: { message: 'out of memory' } }, 500);
      if (scripted.mode === 'full') return sendJson(response, { error: 'busy' }, 429, { 'retry-after': '1' });
      scripted.answers += 1;
      // As slow as a model, so that the clients wait for it and not for the processor.
      await wait(300);
      const message = { role: 'assistant', content: 'Hello.' };
      sendJson(response, { choices: [{ index: 0, message, finish_reason: 'stop' }], usage });
    }),
  });
  opened.push(scripted.engine);
  return scripted;
}

const usage = { prompt_tokens: 3, completion_tokens: 2 };

async function poolOf(
  engines: readonly Scripted[],
  more: Record<string, unknown>[] = [],
  models: Record<string, Partial<EngineModelSettings>> = {},
) {
  const pool = new EnginePool({ times, policy: 'least_load' });
  opened.push(pool);
  const entries = engines.map(({ engine }, index) => {
    const given = { url: engine.url, first_token_timeout_ms: 8_000, ...more[index] };
    return { spec: { ...engineSpecSchema.parse(given), id: 'abc'[index]! }, source: 'api' };
  });
  const settings = Object.entries(models).map(([id, given]) => [id, engineModelSchema.parse(given)] as const);
  await pool.apply({ engines: entries, models: new Map(settings) });
  return pool;
}

async function ask(pool: EnginePool, content = 'Hi') {
  let text = '';
  const messages = [{ role: 'user' as const, content }];
  for await (const event of pool.generator('shared').generate({ messages, parameters: {}, whole: true }))
    text += event.text;
  return text;
}

it('loses no call while one engine dies, one hangs and one fails, one after the other, under 64 clients', async () => {
  const [a, b, c] = await Promise.all([startScripted(), startScripted(), startScripted()]);
  const pool = await poolOf([a, b, c]);
  const outcomes = { right: 0, failed: [] as unknown[] };
  const run = { isOver: false };
  const client = async () => {
    while (!run.isOver)
      await ask(pool).then(
        () => (outcomes.right += 1),
        (error: unknown) => outcomes.failed.push(error),
      );
  };
  const clients = Array.from({ length: 64 }, client);
  const untilMore = async (count: number) => {
    const wanted = outcomes.right + count;
    await expect.poll(() => outcomes.right, patient).toBeGreaterThan(wanted);
  };
  const stateOf = (id: string) => pool.status().find((engine) => engine.id === id)?.state;
  await untilMore(64);
  for (const [scripted, mode, id] of [
    [a, 'dies', 'a'],
    [b, 'hangs', 'b'],
    [c, 'fails', 'c'],
  ] as const) {
    scripted.mode = mode;
    await expect.poll(() => stateOf(id), patient).not.toBe('closed');
    await untilMore(64);
    scripted.mode = 'works';
    await expect.poll(() => stateOf(id), patient).toBe('closed');
  }
  // Two at the same time; the third one answers all calls.
  [a.mode, b.mode] = ['hangs', 'fails'];
  await untilMore(64);
  run.isOver = true;
  await Promise.all(clients);
  expect(outcomes.failed.length / outcomes.right).toBeLessThanOrEqual(0.001);
  expect(outcomes.failed).toEqual([]);
  const status = pool.status();
  expect(status.map(({ in_flight }) => in_flight)).toEqual([0, 0, 0]);
  expect(status.every(({ openings }) => openings > 0)).toBe(true);
}, 180_000);

it('still tries an engine with an open circuit breaker if all are open', async () => {
  const only = await startScripted('fails');
  const other = await startScripted('fails');
  const pool = await poolOf([only, other]);
  await expect(ask(pool)).rejects.toMatchObject({ code: 'bad_upstream' });
  await expect(ask(pool)).rejects.toMatchObject({ code: 'bad_upstream' });
  expect(pool.status().map(({ state }) => state)).not.toContain('closed');
  only.mode = 'works';
  expect(await ask(pool)).toBe('Hello.');
});

it('does not send the request of a caller elsewhere if the caller is wrong', async () => {
  const [a, b] = await Promise.all([startScripted(), startScripted()]);
  const pool = await poolOf([a, b]);
  const long = 'word '.repeat(40_000);
  await expect(ask(pool, long)).rejects.toMatchObject({ code: 'context_length_exceeded' });
  expect(pool.status().map(({ state, failures }) => [state, failures])).toEqual([
    ['closed', 0],
    ['closed', 0],
  ]);
});

it('asks an engine that is full again after its Retry-After, and the others meanwhile', async () => {
  const [full, other] = await Promise.all([startScripted('full'), startScripted()]);
  const pool = await poolOf([full, other], [], { shared: { policy: 'round_robin' } });
  for (let turn = 0; turn < 4; turn += 1) expect(await ask(pool)).toBe('Hello.');
  const asked = full.engine.requests.filter(({ path }) => path === '/v1/chat/completions');
  expect(asked).toHaveLength(1);
  expect(pool.status()[0]).toMatchObject({ state: 'closed', failures: 0 });
});

it('keeps to the maximum in flight, and says when there is no room', async () => {
  const only = await startScripted();
  const pool = await poolOf([only], [{ max_in_flight: 1 }]);
  const settled = await Promise.allSettled([ask(pool), ask(pool)]);
  const failed = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as object] : []));
  expect(failed).toMatchObject([{ code: 'overloaded', retryAfter: 1 }]);
});

it('serves the models of its engines that chat, and names of other models, but not disabled ones', async () => {
  const [a, b] = await Promise.all([
    startScripted('works', ['shared', 'nomic-embed-text']),
    startScripted('works', ['shared', 'secret']),
  ]);
  const pool = await poolOf([a, b], [], { secret: { disabled: true }, 'gpt-4o': { fallbacks: ['shared'] } });
  expect(pool.models()).toEqual(['gpt-4o', 'shared']);
  expect(pool.status()[0]?.models).toEqual([
    { id: 'shared', uses: ['chat'], served: true },
    { id: 'nomic-embed-text', uses: ['embeddings'], served: false },
  ]);
  expect(pool.fallbacks('gpt-4o')).toEqual(['shared']);
});

it('keeps the state of engines whose entry stays the same, and never shows their keys', async () => {
  const engine = await startScripted();
  const pool = await poolOf([engine], [{ api_key: 'secret-key' }]);
  await ask(pool);
  expect(pool.status()[0]).toMatchObject({ requests: 1, has_key: true, kind: 'vllm' });
  expect(JSON.stringify(pool.status())).not.toContain('secret-key');
  expect(engine.engine.requests.at(-1)?.headers.authorization).toBe('Bearer secret-key');
});

it('ends a stream that its reader leaves, without an error that nobody handles', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  const closed = new EventEmitter();
  const whenClosed = once(closed, 'closed');
  process.on('unhandledRejection', note);
  opened.push({ close: () => process.off('unhandledRejection', note) });
  const engine = await startEngine({
    '/v1/models': (response) => sendJson(response, { data: [{ id: 'shared', owned_by: 'vllm' }] }),
    '/v1/chat/completions': (response) => {
      response.once('close', () => closed.emit('closed'));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const content of ['a', 'b'])
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
    },
  });
  opened.push(engine);
  const pool = await poolOf([{ engine, mode: 'works', answers: 0 }]);
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  for await (const { text } of pool.generator('shared').generate({ messages, parameters: {} }))
    if (text) break;
  await whenClosed;
  await new Promise((resolve) => void setImmediate(resolve));
  expect(unhandled).toEqual([]);
  expect(pool.status()[0]).toMatchObject({ in_flight: 0, failures: 0 });
});
