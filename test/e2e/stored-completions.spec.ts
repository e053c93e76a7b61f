import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';
import { failureOf, newClient, problemsOf } from './helpers/response-events.js';
import { scriptedModel as model } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

let stack: ScriptedStack;
let client: OpenAI;

beforeAll(async () => {
  stack = await startScriptedStack();
  client = newClient(stack.gateway.url);
});
afterAll(() => stack?.stop());

const ask = (content: string, more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
  client.chat.completions.create({
    model,
    store: true,
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content },
    ],
    ...more,
  });

describe('stored chat completions', () => {
  it('are kept where they are asked to be, found, changed and deleted', async () => {
    const completion = await ask('Hello world', { metadata: { a: '1' } });
    const { id } = completion;
    expect(await client.chat.completions.retrieve(id)).toEqual({ ...completion, metadata: { a: '1' } });
    expect(await client.chat.completions.update(id, { metadata: { b: '2' } })).toMatchObject({
      id,
      metadata: { b: '2' },
    });
    const { data } = await client.chat.completions.messages.list(id);
    expect(data).toMatchObject([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello world' },
    ]);
    expect(await client.chat.completions.delete(id)).toEqual({
      id,
      object: 'chat.completion.deleted',
      deleted: true,
    });
    expect(await failureOf(client.chat.completions.retrieve(id))).toMatchObject({ status: 404 });
  });

  it('are not kept otherwise', async () => {
    const { id } = await ask('x', { store: false });
    expect(await failureOf(client.chat.completions.retrieve(id))).toMatchObject({ status: 404 });
  });

  it('are kept when they are streamed', async () => {
    const stream = await client.chat.completions.create({
      model,
      store: true,
      stream: true,
      messages: [{ role: 'user', content: 'one two' }],
    });
    let id = '';
    for await (const chunk of stream) id = chunk.id;
    expect((await client.chat.completions.retrieve(id)).choices[0]?.message.content).toBe('one two');
  });

  it('are listed by metadata and model, page by page', async () => {
    const ids: string[] = [];
    for (const number of ['1', '2', '3'])
      ids.push((await ask(number, { metadata: { list: 'x', number } })).id);
    const listed: string[] = [];
    for await (const { id } of client.chat.completions.list({ metadata: { list: 'x' }, limit: 2, model }))
      listed.push(id);
    expect(listed).toEqual(ids);
    const newest = await client.chat.completions.list({ order: 'desc', limit: 1 });
    expect(newest.data.map(({ id }) => id)).toEqual(ids.slice(-1));
    const body: unknown = await (await fetch(`${client.baseURL}/chat/completions?limit=2`)).json();
    expect(problemsOf('ChatCompletionList', body)).toEqual([]);
    const messages: unknown = await (
      await fetch(`${client.baseURL}/chat/completions/${ids[0]}/messages`)
    ).json();
    expect(messages).toMatchObject({ object: 'list', has_more: false, first_id: `${ids[0]}-0` });
  });
});

describe('RATE_LIMIT_PER_MINUTE', () => {
  it('answers 429 beyond it, to each key by itself, and never to a health probe', async () => {
    const gateway = await stack.startGateway({
      RATE_LIMIT_PER_MINUTE: '2',
      API_KEYS: 'one,two',
    });
    const body = { model, messages: 'Hello' };
    const request = (key: string) =>
      postJson(`${gateway.url}/v1/chat/completions`, body, { authorization: `Bearer ${key}` });
    expect((await request('one')).status).toBe(200);
    expect((await request('one')).status).toBe(200);
    // However it is written, it is the same key.
    const refused = await request(' one');
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect((await request('two')).status).toBe(200);
    for (let probe = 0; probe < 4; probe += 1) expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
    await gateway.stop();
  });
});
