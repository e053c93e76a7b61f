import { startEmbeddedPostgres, type EmbeddedPostgres } from '#local-stack';
import { createTemporaryDirectory, freePort } from '#testing';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  askerOf,
  assertNumbered,
  collect,
  newClient,
  responseOf,
  textOf,
} from './helpers/response-events.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

let stack: ScriptedStack;
let client: OpenAI;
let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let postgres: EmbeddedPostgres;
const { create } = askerOf(() => client);

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  const port = await freePort();
  postgres = await startEmbeddedPostgres({ dataDirectory: directory.path, port });
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
  postgres = await startEmbeddedPostgres({ dataDirectory: directory.path, port });
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
});
