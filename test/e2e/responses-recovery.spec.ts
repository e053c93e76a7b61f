import { APIError, type OpenAI } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  assertNumbered,
  collect,
  collectRaw,
  isDelta,
  newClient,
  responseOf,
  textOf,
  type Response,
  type ResponseEvent,
} from './helpers/response-events.js';
import { scriptedModel as model } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

const keys = ['first-key', 'second-key'] as const;
const keepAliveMs = 300;

let stack: ScriptedStack;

beforeAll(async () => {
  stack = await startScriptedStack({
    API_KEYS: keys.join(','),
    RESPONSES_LEASE_MS: '1500',
    RESPONSES_KEEP_ALIVE_MS: String(keepAliveMs),
  });
});
afterAll(() => stack?.stop());

/** What a client saw of a stream until its server died. */
async function collectUntilBroken(
  stream: AsyncIterable<ResponseEvent>,
  seen: ResponseEvent[],
): Promise<void> {
  try {
    for await (const event of stream) seen.push(event);
  } catch (error) {
    if (error instanceof APIError) throw error;
  }
}

interface Outcome {
  response: Response;
  events: ResponseEvent[];
}

/** Reads a whole log, and the response beside it. */
async function outcomeOf(client: OpenAI, id: string): Promise<Outcome> {
  const headers = { authorization: `Bearer ${client.apiKey}` };
  const events = await collectRaw(await fetch(`${client.baseURL}/responses/${id}?stream=true`, { headers }));
  return { events, response: await client.responses.retrieve(id) };
}

/** What had said something cannot be started again. */
async function failedOutcome(client: OpenAI, id: string): Promise<Outcome> {
  const outcome = await outcomeOf(client, id);
  expect(outcome.response).toMatchObject({ status: 'failed' });
  expect(outcome.response.error?.message).toMatch(/it stopped while it was writing/);
  expect(outcome.events.filter(isDelta).length).toBeGreaterThan(0);
  return outcome;
}

/** What had said nothing was started again, and came to its end. */
async function restartedOutcome(client: OpenAI, id: string): Promise<Outcome> {
  const status = async () => (await client.responses.retrieve(id)).status;
  await expect.poll(status).toBe('completed');
  const outcome = await outcomeOf(client, id);
  expect(outcome.response.output_text).toBe('one two three');
  return outcome;
}

describe('a gateway that is killed', () => {
  it('leaves none of 16 background responses behind: each is completed or failed, its log without gap or repetition', async () => {
    const client = newClient(stack.gateway.url, keys[0]);
    const seen = Array.from({ length: 16 }, (): ResponseEvent[] => []);
    const streams = seen.map(async (events, index) => {
      const input = index % 2 === 0 ? 'count 100000 every 20' : 'held: one two three';
      const stream = await client.responses.create({ model, input, background: true, stream: true });
      await collectUntilBroken(stream, events);
    });
    const hasBegun = (events: ResponseEvent[], index: number) =>
      index % 2 === 0 ? events.some(isDelta) : events.length > 2;
    await expect.poll(() => seen.every(hasBegun)).toBe(true);
    await stack.gateway.kill();
    await Promise.all(streams);
    stack.witness.release();

    const heir = await stack.startGateway();
    stack.gateway = heir;
    const after = newClient(heir.url, keys[0]);
    const ids = seen.map(([first]) => (first as { response: Response }).response.id);
    for (const [index, id] of ids.entries()) {
      const outcome = index % 2 === 0 ? await failedOutcome(after, id) : await restartedOutcome(after, id);
      const before = seen[index] ?? [];
      assertNumbered(outcome.events);
      // Whatever a client saw before the death stands in the log as it saw it.
      expect(outcome.events.slice(0, before.length)).toEqual(before);
      expect(outcome.response.output_text).toBe(textOf(outcome.events));
    }
  });

  it('started again finishes what had said nothing', async () => {
    const client = newClient(stack.gateway.url, keys[0]);
    const { id } = await client.responses.create({ model, input: 'count 1 every 6000', background: true });
    await expect.poll(async () => (await client.responses.retrieve(id)).status).toBe('in_progress');
    await stack.gateway.kill();
    stack.gateway = await stack.startGateway();
    const after = newClient(stack.gateway.url, keys[0]);
    await expect.poll(async () => (await after.responses.retrieve(id)).status).toBe('completed');
    const events = await collect(await after.responses.retrieve(id, { stream: true }));
    assertNumbered(events);
    expect(textOf(events)).toBe('1 ');
    expect(responseOf(events).output_text).toBe('1 ');
  });

  it('leaves a batch to the next one, which answers each request once, for the key of the batch', async () => {
    const client = newClient(stack.gateway.url, keys[0]);
    const contents = ['say first', 'count 2 every 3000', 'say third'];
    const lines = contents.map((content, index) =>
      JSON.stringify({
        custom_id: `r${index}`,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model, messages: [{ role: 'user', content }] },
      }),
    );
    const file = await client.files.create({
      file: new File([lines.join('\n')], 'in.jsonl'),
      purpose: 'batch',
    });
    const { id } = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    const completed = async () => (await client.batches.retrieve(id)).request_counts?.completed;
    await expect.poll(completed).toBeGreaterThan(0);
    await stack.gateway.kill();
    stack.gateway = await stack.startGateway();
    const after = newClient(stack.gateway.url, keys[0]);
    await expect.poll(async () => (await after.batches.retrieve(id)).status).toBe('completed');
    const batch = await after.batches.retrieve(id);
    expect(batch.request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
    const output = await (await after.files.content(batch.output_file_id!)).text();
    const ids = output
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
    expect(ids).toEqual(['r0', 'r1', 'r2']);
    const stranger = newClient(stack.gateway.url, keys[1]);
    await expect(stranger.batches.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it('stopped in order hands its background responses on at once', async () => {
    // They look for expired leases once in minutes.
    const patient = { RESPONSES_LEASE_MS: '600000' };
    const [leaving, heir] = [await stack.startGateway(patient), await stack.startGateway(patient)];
    await stack.gateway.stop();
    const { id } = await newClient(leaving.url, keys[0]).responses.create({
      model,
      input: 'count 1 every 3000',
      background: true,
    });
    await leaving.stop();
    const client = newClient(heir.url, keys[0]);
    await expect.poll(async () => (await client.responses.retrieve(id)).status).toBe('completed');
    stack.gateway = await stack.startGateway();
    await heir.stop();
  });
});

describe('a gateway that is stopped while another one serves', () => {
  const began = (events: readonly ResponseEvent[]) => events.some(isDelta);
  const consume = async (stream: AsyncIterable<ResponseEvent>, events: ResponseEvent[]) => {
    for await (const event of stream) events.push(event);
  };

  it('refuses new work, and finishes what it has begun: nobody takes a stream away from it', async () => {
    const leaving = await stack.startGateway({ SHUTDOWN_GRACE_MS: '60000' });
    const client = newClient(leaving.url, keys[0]);
    const [foreground, background]: [ResponseEvent[], ResponseEvent[]] = [[], []];
    // Longer than a lease lasts.
    const input = 'count 20 every 200';
    const streams = [
      consume(await client.responses.create({ model, input, stream: true }), foreground),
      consume(await client.responses.create({ model, input, stream: true, background: true }), background),
    ];
    const { id } = await client.responses.create({ model, input: 'count 1 every 6000', background: true });
    await expect.poll(() => began(foreground) && began(background)).toBe(true);
    const stopped = leaving.stop();
    await expect.poll(async () => (await fetch(`${leaving.url}/ready`)).status).toBe(503);
    expect((await fetch(`${leaving.url}/live`)).status).toBe(200);
    const refused = await fetch(`${leaving.url}/v1/models`, {
      headers: { authorization: `Bearer ${keys[0]}` },
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    await Promise.all([...streams, stopped]);
    const other = newClient(stack.gateway.url, keys[0]);
    for (const events of [foreground, background]) {
      assertNumbered(events);
      expect(responseOf(events).status).toBe('completed');
      expect((await other.responses.retrieve(responseOf(events).id)).status).toBe('completed');
    }
    await expect.poll(async () => (await other.responses.retrieve(id)).status).toBe('completed');
  });
});

describe('a stream that has nothing to say', () => {
  it('repeats response.in_progress, in sequence', async () => {
    const client = newClient(stack.gateway.url, keys[0]);
    const stream = await client.responses.create({ model, input: 'count 2 every 1000', stream: true });
    const events = await collect(stream);
    expect(events.filter(({ type }) => type === 'response.in_progress').length).toBeGreaterThan(3);
    assertNumbered(events);
    expect(responseOf(events).output_text).toBe('1 2 ');
  });
});

describe('an API key', () => {
  it('sees nothing of what another one stores', async () => {
    const [mine, other] = keys.map((key) => newClient(stack.gateway.url, key));
    if (!mine || !other) throw new Error('Two keys are needed');
    const { id, output } = await mine.responses.create({ model, input: 'x' });
    const conversation = await mine.conversations.create({});
    const attempts = [
      () => other.responses.retrieve(id),
      () => other.responses.cancel(id),
      () => other.responses.delete(id),
      () => other.responses.inputItems.list(id),
      () => other.responses.create({ model, input: 'x', previous_response_id: id }),
      () => other.responses.create({ model, input: 'x', conversation: conversation.id }),
      () => other.responses.create({ model, input: [{ type: 'item_reference', id: output[0]?.id ?? '' }] }),
      () => other.conversations.retrieve(conversation.id),
      () => other.conversations.delete(conversation.id),
      () => other.conversations.items.list(conversation.id),
    ];
    const outcomes = await Promise.allSettled(attempts.map((attempt) => attempt()));
    expect(
      outcomes.map((outcome) => outcome.status === 'rejected' && (outcome.reason as { code?: string }).code),
    ).toEqual([
      'not_found',
      'not_found',
      'not_found',
      'not_found',
      'previous_response_not_found',
      'not_found',
      'not_found',
      'not_found',
      'not_found',
      'not_found',
    ]);
    expect((await mine.responses.retrieve(id)).id).toBe(id);
  });
});
