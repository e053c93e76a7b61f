import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  assertValid,
  isDelta,
  assertValidLog,
  askerOf,
  collect,
  failureOf,
  newClient,
  responseOf,
  textOf,
  type Response,
  type ResponseEvent,
} from './helpers/response-events.js';
import { scriptedModel } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

let stack: ScriptedStack;
let client: OpenAI;
let url: string;
const { create, stream } = askerOf(() => client);

beforeAll(async () => {
  stack = await startScriptedStack();
  url = stack.gateway.url;
  client = newClient(url);
});
afterAll(() => stack?.stop());

describe('cancelling', () => {
  it('stops a stream within a token, ends its log and keeps what was said', async () => {
    const { tokens, stopped } = stack.witness;
    const answering = await stream({ input: 'count 1000 every 20' });
    const events: ResponseEvent[] = [];
    const iterator = answering[Symbol.asyncIterator]();
    while (events.filter(isDelta).length < 3) events.push((await iterator.next()).value as ResponseEvent);
    const { id } = (events[0] as { response: Response }).response;
    const cancelled = await client.responses.cancel(id);
    expect(cancelled.status).toBe('cancelled');
    assertValid(cancelled);
    expect(await client.responses.cancel(id)).toEqual(cancelled);
    for (let step = await iterator.next(); !step.done; step = await iterator.next()) events.push(step.value);
    assertValidLog(events);
    expect(responseOf(events)).toMatchObject({ status: 'cancelled', output_text: textOf(events) });
    await expect.poll(() => stack.witness.stopped).toBe(stopped + 1);
    // What the model made is what the log holds, and at most the token that was under way.
    expect(stack.witness.tokens - tokens - events.filter(isDelta).length).toBeLessThanOrEqual(1);
  });

  it('happens when the client of a stream leaves', async () => {
    const { stopped } = stack.witness;
    const leaving = await stream({ input: 'count 1000 every 20' });
    let id = '';
    for await (const event of leaving) {
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') break;
    }
    await expect.poll(() => stack.witness.stopped).toBe(stopped + 1);
    await expect.poll(async () => (await client.responses.retrieve(id)).status).toBe('cancelled');
  });

  it('answers a finished response as it is', async () => {
    const response = await create({ input: 'x' });
    expect(await client.responses.cancel(response.id)).toEqual(response);
    expect(await failureOf(client.responses.cancel('resp_0'))).toMatchObject({ status: 404 });
  });
});

describe('background responses', () => {
  it('run on by themselves and are polled for', async () => {
    const begun = await create({ input: 'count 5 every 20', background: true });
    expect(begun.status).toBe('queued');
    assertValid(begun);
    await expect.poll(async () => (await client.responses.retrieve(begun.id)).status).toBe('completed');
    expect(await client.responses.retrieve(begun.id)).toMatchObject({
      output_text: '1 2 3 4 5 ',
      background: true,
    });
  });

  it('say when to ask again, until they have ended', async () => {
    const { data: begun, response: first } = await client.responses
      .create({ model: scriptedModel, input: 'held: go', background: true })
      .withResponse();
    const ask = async () => {
      const { data, response } = await client.responses.retrieve(begun.id).withResponse();
      return { status: data.status, after: response.headers.get('openai-poll-after-ms') };
    };
    expect(first.headers.get('openai-poll-after-ms')).toBe('500');
    await expect.poll(async () => ask()).toEqual({ status: 'in_progress', after: '500' });
    stack.witness.release();
    await expect.poll(async () => ask()).toEqual({ status: 'completed', after: null });
  });

  it('are followed from any point, by anybody, without gap or repetition', async () => {
    const live = await stream({ input: 'count 30 every 10', background: true });
    const [first, ...rest] = await collect(live);
    const events = [first as ResponseEvent, ...rest];
    assertValidLog(events);
    expect(events[1]?.type).toBe('response.queued');
    const { id } = responseOf(events);
    const replay = await collect(await client.responses.retrieve(id, { stream: true }));
    expect(replay).toEqual(events);
    const tail = await collect(await client.responses.retrieve(id, { stream: true, starting_after: 9 }));
    expect(tail).toEqual(events.slice(10));
  });

  it('are followed while they run', async () => {
    const begun = await create({ input: 'count 30 every 10', background: true });
    const followers = await Promise.all(
      [-1, 3, 7].map(async (starting_after) =>
        collect(await client.responses.retrieve(begun.id, { stream: true, starting_after })),
      ),
    );
    for (const [index, events] of followers.entries()) assertValidLog(events, [0, 4, 8][index]);
    expect(textOf(followers[0] ?? [])).toBe(responseOf(followers[0] ?? []).output_text);
  });

  it('go on when the client that streams them leaves', async () => {
    let id = '';
    for await (const event of await stream({ input: 'count 20 every 10', background: true })) {
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') break;
    }
    await expect.poll(async () => (await client.responses.retrieve(id)).status).toBe('completed');
  });

  it('are cancelled from another gateway', async () => {
    const other = await stack.startGateway();
    const begun = await create({ input: 'count 1000 every 20', background: true });
    const elsewhere = newClient(other.url);
    const cancelled = await elsewhere.responses.cancel(begun.id);
    expect(cancelled.status).toBe('cancelled');
    const events = await collect(await elsewhere.responses.retrieve(begun.id, { stream: true }));
    assertValidLog(events);
    await other.stop();
  });
});
