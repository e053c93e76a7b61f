import { randomBytes } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { createResponseSchema, newResponse, Sealer } from '#api/responses';
import { Drain } from '#platform/service-kit';
import { describe, expect, it } from 'vitest';
import type { GatewayEnvironment } from '../../config/gateway.environment.js';
import type { ResponsePlan } from '../context/response-plan.js';
import type { GenerationStarter } from './generation-starter.js';
import { ephemeral, type ResponsePersistence } from './persistence.js';
import { ResponseRuns } from './response-runs.js';

function newPlan(id: string, content: string, background: boolean): ResponsePlan {
  const { settings } = createResponseSchema.parse({ input: 'x', store: background, background });
  const status = background ? 'queued' : 'in_progress';
  return {
    owner: 'me',
    initial: newResponse({ id, createdAt: 1, model: 'scripted', settings, status }),
    context: [],
    inputItems: [],
    job: {
      chat: {
        isNamed: false,
        messages: [{ role: 'user', content }],
        parameters: {},
        includeUsage: false,
        extra: {},
      },
      truncation: 'disabled',
      searchQuery: null,
      includeSearchResults: false,
      include: [],
      toolItems: [],
    },
    toolSecrets: new Map(),
    ignored: [],
  };
}

/** Runs whose generation says one word and then ends, at once, never or with `answers`. */
function newRuns({
  answers = true,
  maxBytes = 0,
  drain = new Drain(),
}: { answers?: boolean | Promise<unknown>; maxBytes?: number; drain?: Drain } = {}): ResponseRuns {
  async function* speak() {
    yield { type: 'chunk' as const, chunk: { choice: 0, text: 'done' } };
    await (answers === false ? new Promise(() => {}) : answers);
  }
  const start = () =>
    Promise.resolve({
      ignored: [],
      degraded: new Set<string>(),
      supports: [],
      receipt: () => undefined,
      steps: speak(),
    });
  const starter = { start } as unknown as GenerationStarter;
  const choose = ({ initial }: ResponsePlan) => ({ ...ephemeral, isDurable: initial.background });
  const persistence = { choose } as unknown as ResponsePersistence;
  const environment = {
    RESPONSES_LEASE_MS: 1_000,
    RESPONSES_BACKGROUND_TIMEOUT_MS: 10_000,
    RESPONSES_KEEP_ALIVE_MS: 10_000,
    BODIES_LIMIT_BYTES: maxBytes,
  } as unknown as GatewayEnvironment;
  const sealer = new Sealer([randomBytes(32)]);
  return new ResponseRuns(starter, persistence, environment, sealer, drain);
}

/** Resolves once the requests of a draining process have ended. */
function drained(drain: Drain): Promise<void> {
  return new Promise((resolve) => drain.onIdle(() => resolve()));
}

describe('ResponseRuns', () => {
  it('leaves nothing on the signal of a connection once its turns have ended', async () => {
    const runs = newRuns();
    const { signal } = new AbortController();
    const call = { requestId: 'r', traceparent: '', deadline: Date.now() + 10_000, signal };
    for (let turn = 0; turn < 50; turn += 1) {
      const started = await runs.start(newPlan(`resp_${turn}`, 'x', false), { call });
      if (!('run' in started)) throw new Error('not started');
      const { run } = started;
      for await (const event of run.log.follow(-1, signal)) expect(event).toHaveProperty('sequence_number');
      await run.ended;
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(runs.ids).toEqual([]);
  });

  const background = (runs: ResponseRuns, id: string, bytes = 1) => {
    const { signal } = new AbortController();
    const call = { requestId: 'r', traceparent: '', deadline: Date.now() + 10_000, signal };
    return runs.start(newPlan(id, 'x'.repeat(bytes), true), { call });
  };

  it('works on a bounded number of bytes of background responses', async () => {
    const runs = newRuns({ answers: false, maxBytes: 10_000 });
    // One that is greater than the bound passes alone.
    await background(runs, 'resp_1', 20_000);
    const second = background(runs, 'resp_2', 10);
    await expect(second).rejects.toThrow(/1 background responses with 20\d{3} bytes in progress/);
  });

  it('works on a bounded number of background responses', async () => {
    const runs = newRuns({ answers: false });
    for (let index = 0; index < 1_000; index += 1) await background(runs, `resp_${index}`);
    await expect(background(runs, 'resp_more')).rejects.toThrow(/1000 background/);
  });

  it('finishes a background response that a request began while the gateway was stopping', async () => {
    const drain = new Drain();
    let answer = () => {};
    const runs = newRuns({ drain, answers: new Promise<void>((resolve) => (answer = resolve)) });
    const stopped = drain.run({ delayMs: 10, graceMs: 10_000 });
    const started = await background(runs, 'resp_late');
    if (!('run' in started)) throw new Error('not started');
    let isStopped = false;
    const end = stopped.then(() => (isStopped = true));
    await expect.poll(() => started.run.hasOutput).toBe(true);
    await drained(drain);
    expect(isStopped).toBe(false);
    answer();
    await end;
    expect((await started.run.ended).status).toBe('completed');
  });
});
