import { startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/local-stack';
import { createTemporaryDirectory, freePort, postgresTemplate } from '#platform/testing';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  askerOf,
  assertNumbered,
  collect,
  failureOf,
  newClient,
  responseOf,
  textOf,
  type Failure,
  type Response,
} from './helpers/response-events.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

let stack: ScriptedStack;
let client: OpenAI;
let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let postgres: EmbeddedPostgres;
const { create } = askerOf(() => client);

/** A server of this file alone, which its tests kill. */
function startPostgresOn(port: number): Promise<EmbeddedPostgres> {
  const template = postgresTemplate();
  return startEmbeddedPostgres({ dataDirectory: directory.path, port, template, isShortLived: true });
}

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  postgres = await startPostgresOn(await freePort());
  const { connectionString } = postgres;
  stack = await startScriptedStack({}, { connectionString, stop: () => postgres.stop() });
  client = newClient(stack.gateway.url);
});
afterAll(async () => {
  await stack?.stop();
  await directory?.remove();
});

async function restartPostgres(): Promise<void> {
  const port = Number(new URL(postgres.connectionString).port);
  postgres.process.signal('SIGKILL');
  await postgres.exited;
  postgres = await startPostgresOn(port);
}

describe('a database that is killed and comes back', () => {
  it('loses nothing that was stored; what runs waits for it and goes on', async () => {
    const kept = await create({ input: 'kept' });
    const begun = await Promise.all(
      Array.from({ length: 8 }, () => create({ input: 'count 60 every 30', background: true })),
    );
    const waiting = create({ input: 'count 60 every 30' });
    const first = await client.responses.retrieve(begun[0]?.id ?? '', { stream: true });
    for await (const { type } of first) if (type === 'response.output_text.delta') break;
    await restartPostgres();
    expect((await waiting).status).toBe('completed');
    expect(await client.responses.retrieve(kept.id)).toEqual(kept);
    for (const { id } of begun) {
      await expect.poll(async () => (await client.responses.retrieve(id)).status).toBe('completed');
      const events = await collect(await client.responses.retrieve(id, { stream: true }));
      assertNumbered(events);
      expect(textOf(events)).toBe(responseOf(events).output_text);
      expect(textOf(events).trim().split(' ')).toHaveLength(60);
    }
  });

  it('has what is asked meanwhile wait or fail clearly, and keeps all that was answered', async () => {
    const answered: Response[] = [];
    const conversations: string[] = [];
    const failures: Failure[] = [];
    const running = new AbortController();
    const load = async (worker: number) => {
      for (let turn = 0; !running.signal.aborted; turn += 1) {
        try {
          answered.push(await create({ input: `${worker} ${turn} count 2 every 20` }));
          conversations.push((await client.conversations.create({ metadata: { turn: String(turn) } })).id);
        } catch (error) {
          failures.push(await failureOf(Promise.reject(error)));
        }
      }
    };
    const workers = [1, 2, 3, 4].map(load);
    await expect.poll(() => conversations.length).toBeGreaterThan(8);
    await restartPostgres();
    const before = conversations.length;
    await expect.poll(() => conversations.length).toBeGreaterThan(before + 8);
    running.abort();
    await Promise.all(workers);
    expect(failures).toEqual(failures.map(() => ({ status: 503, code: 'service_unavailable', param: null })));
    for (const response of answered) expect(await client.responses.retrieve(response.id)).toEqual(response);
    for (const id of conversations) expect((await client.conversations.retrieve(id)).id).toBe(id);
  });
});
