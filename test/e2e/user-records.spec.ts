import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptedModel } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

let stack: ScriptedStack;
let url: string;
beforeAll(async () => {
  stack = await startScriptedStack();
  url = stack.gateway.url;
});
afterAll(() => stack?.stop());

async function call(path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url + path, {
    ...(body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  return { status: response.status, body: await response.json() };
}

describe('chat histories', () => {
  const user = 'Ada';
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is a ferry?', time: '1724915247' },
    { role: 'assistant', content: 'A boat.' },
  ];

  it('are stored, listed, replaced and deleted by user', async () => {
    const data = { user, messages, model: 'x', temperature: 0.5 };
    const { body: id } = await call('/v1/chathistory/create', { data });
    expect(id).toMatch(/^conv_/);
    expect((await call('/v1/chathistory/get', { user })).body).toEqual([
      { id, first_query: 'What is a ferry?' },
    ]);
    expect((await call('/v1/chathistory/get', { user, id })).body).toEqual(data);
    expect((await call('/v1/chathistory/get', { user: 'Bob' })).body).toEqual([]);
    expect(await call('/v1/chathistory/get', { user: 'Bob', id })).toMatchObject({
      status: 404,
      body: { error: { param: 'id' } },
    });
    const changed = { user, messages: 'test messages' };
    expect((await call('/v1/chathistory/create', { data: changed, id })).body).toBe(true);
    expect((await call('/v1/chathistory/get', { user, id })).body).toEqual(changed);
    expect((await call('/v1/chathistory/delete', { user: 'Bob', id })).body).toBe(false);
    expect((await call('/v1/chathistory/delete', { user, id })).body).toBe(true);
    expect((await call('/v1/chathistory/get', { user })).body).toEqual([]);
    expect((await call(`/v1/conversations/${String(id)}`)).status).toBe(404);
  });

  it('are not stored completions, each of which is one exchange', async () => {
    const owner = { metadata: { user: 'Eve' }, user: 'Eve' };
    const ask = (turns: object[]) =>
      call('/v1/chat/completions', { model: scriptedModel, messages: turns, store: true, ...owner });
    const first = { role: 'user', content: 'count 2' };
    await ask([first]);
    const { body } = await ask([first, { role: 'assistant', content: '1 2 ' }, first]);
    const stored = await call('/v1/chat/completions?metadata[user]=Eve');
    expect((stored.body as { data: unknown[] }).data).toHaveLength(2);
    expect((await call('/v1/chathistory/get', { user: 'Eve' })).body).toEqual([]);
    const { id } = body as { id: string };
    expect((await call('/v1/chathistory/get', { user: 'Eve', id })).status).toBe(404);
  });

  it('are conversations, and conversations that name a user are chat histories', async () => {
    const { body: id } = await call('/v1/chathistory/create', { data: { user: 'Eve', messages } });
    const path = `/v1/conversations/${String(id)}`;
    expect((await call(path)).body).toMatchObject({
      id,
      metadata: { user: 'Eve', title: 'What is a ferry?' },
    });
    expect((await call(`${path}/items?order=asc`)).body).toMatchObject({
      data: [
        { role: 'system' },
        { role: 'user', content: [{ text: 'What is a ferry?' }] },
        { role: 'assistant' },
      ],
    });
    await call(`${path}/items`, { items: [{ role: 'user', content: 'Thanks.' }] });
    expect((await call('/v1/chathistory/get', { user: 'Eve', id })).body).toEqual({
      user: 'Eve',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is a ferry?' },
        { role: 'assistant', content: 'A boat.' },
        { role: 'user', content: 'Thanks.' },
      ],
    });
    const made = await call('/v1/conversations', {
      metadata: { user: 'Eve', title: 'Boats' },
      items: [{ role: 'user', content: 'Hello' }],
    });
    const other = (made.body as { id: string }).id;
    expect((await call('/v1/chathistory/get', { user: 'Eve' })).body).toContainEqual({
      id: other,
      first_query: 'Boats',
    });
    expect((await call('/v1/chathistory/get', { user: 'Eve', id: other })).body).toEqual({
      user: 'Eve',
      messages: [{ role: 'user', content: 'Hello' }],
    });
  });
});

describe('feedback', () => {
  it('is stored, listed without its verdict, replaced and deleted', async () => {
    const chat_data = { user: 'test', messages: [{ role: 'user', content: 'hi', time: '1724915247' }] };
    const feedback_data = { comment: 'Moderate', rating: 3, is_thumbs_up: true };
    const { body: id } = await call('/v1/feedback/create', { chat_id: 'c1', chat_data, feedback_data });
    expect((await call('/v1/feedback/get', { user: 'test' })).body).toEqual([
      { chat_id: 'c1', chat_data, feedback_id: id },
    ]);
    const better = { chat_id: 'c1', chat_data, feedback_data: { ...feedback_data, rating: 5 } };
    expect((await call('/v1/feedback/create', { ...better, feedback_id: id })).body).toBe(true);
    for (const path of ['/v1/feedback/get', '/v1/feedback/get_id'])
      expect((await call(path, { user: 'test', feedback_id: id })).body).toEqual(better);
    expect((await call('/v1/feedback/delete', { user: 'test', feedback_id: id })).body).toBe(true);
    expect((await call('/v1/feedback/delete', { user: 'test', feedback_id: id })).body).toBe(false);
  });

  it.each([
    ['/v1/feedback/create', { chat_data: { user: 'a', messages: 'x' } }, 'feedback_data'],
    ['/v1/feedback/get', {}, 'user'],
    ['/v1/feedback/delete', { user: 'a' }, 'feedback_id'],
    ['/v1/chathistory/create', { data: { messages: 'x' } }, 'data.user'],
    ['/v1/chathistory/create', { data: { user: ' ', messages: 'x' } }, 'data.user'],
    ['/v1/chathistory/delete', { user: 'a' }, 'id'],
    ['/v1/prompt/create', { user: 'a' }, 'prompt_text'],
    ['/v1/prompt/delete', { user: 'a' }, 'prompt_id'],
  ])('%s refuses %j', async (path, body, param) => {
    expect(await call(path, body)).toMatchObject({ status: 400, body: { error: { param } } });
  });
});

describe('prompts', () => {
  it('are stored, found by id and by keyword, and deleted', async () => {
    const user = 'test';
    const { body: id } = await call('/v1/prompt/create', {
      user,
      prompt_text: 'Summarize the following text',
    });
    await call('/v1/prompt/create', { user, prompt_text: 'Translate' });
    expect((await call('/v1/prompt/get', { user })).body).toHaveLength(2);
    expect((await call('/v1/prompt/get', { user, keyword: 'summarize' })).body).toEqual([
      { id, user, prompt_text: 'Summarize the following text' },
    ]);
    expect((await call('/v1/prompt/get', { user, prompt_id: id })).body).toBe('Summarize the following text');
    expect((await call('/v1/prompt/delete', { user, prompt_id: id })).body).toBe(true);
    expect((await call('/v1/prompt/get', { user, prompt_id: id })).status).toBe(404);
  });
});
