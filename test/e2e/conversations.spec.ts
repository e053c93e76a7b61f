import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';
import { assertValid, askerOf, failureOf, newClient, problemsOf } from './helpers/response-events.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

let stack: ScriptedStack;
let client: OpenAI;
let url: string;
const { create } = askerOf(() => client);

beforeAll(async () => {
  stack = await startScriptedStack();
  url = stack.gateway.url;
  client = newClient(url);
});
afterAll(() => stack?.stop());

async function listConversations(query: string): Promise<unknown> {
  return (await fetch(`${url}/v1/conversations?${query}`)).json();
}

describe('conversations', () => {
  it('are created, changed, listed and deleted', async () => {
    const { id, ...created } = await client.conversations.create({ items: [], metadata: { a: '1', b: '2' } });
    expect(created).toMatchObject({ object: 'conversation', metadata: { a: '1', b: '2' } });
    const merged = await postJson(`${url}/v1/conversations/${id}`, { metadata: { a: null, c: '3' } });
    expect(merged.body).toMatchObject({ metadata: { b: '2', c: '3' } });
    expect(problemsOf('ConversationResource', merged.body)).toEqual([]);
    const items = Array.from({ length: 25 }, (_unused, index) => ({
      role: 'user' as const,
      content: `${index}`,
    }));
    const added = await postJson(`${url}/v1/conversations/${id}/items`, { items });
    expect(problemsOf('ConversationItemList', added.body)).toEqual([]);
    const listed: OpenAI.Conversations.ConversationItem[] = [];
    for await (const item of client.conversations.items.list(id, { limit: 10, order: 'asc' }))
      listed.push(item);
    expect(listed).toMatchObject(
      items.map(({ content }) => ({ content: [{ type: 'input_text', text: content }] })),
    );
    const [item] = listed;
    const itemId = item?.id ?? '';
    expect(await client.conversations.items.retrieve(itemId, { conversation_id: id })).toEqual(item);
    expect(await client.conversations.items.delete(itemId, { conversation_id: id })).toMatchObject({ id });
    expect(
      await failureOf(client.conversations.items.retrieve(itemId, { conversation_id: id })),
    ).toMatchObject({ status: 404 });
    expect(await client.conversations.delete(id)).toEqual({
      id,
      object: 'conversation.deleted',
      deleted: true,
    });
    expect(await failureOf(client.conversations.retrieve(id))).toMatchObject({ status: 404 });
  });

  it('are listed latest first, in pages, each owner its own', async () => {
    const made: string[] = [];
    for (const title of ['one', 'two', 'three'])
      made.unshift((await client.conversations.create({ metadata: { title } })).id);
    const first = await listConversations('limit=2');
    expect(first).toMatchObject({
      object: 'list',
      data: [
        { id: made[0], metadata: { title: 'three' } },
        { id: made[1], metadata: { title: 'two' } },
      ],
      last_id: made[1],
      has_more: true,
    });
    const second = await listConversations(`limit=1&after=${made[1]}`);
    expect(second).toMatchObject({ data: [{ id: made[2], metadata: { title: 'one' } }] });
    const unknown = await fetch(`${url}/v1/conversations?after=conv_none`);
    expect(unknown.status).toBe(400);
    expect(await unknown.json()).toMatchObject({ error: { param: 'after' } });
  });

  it('are read and changed by the client, items too', async () => {
    const { id } = await client.conversations.create({ metadata: { a: '1' } });
    expect(await client.conversations.update(id, { metadata: { b: '2' } })).toMatchObject({
      metadata: { a: '1', b: '2' },
    });
    const items = [
      { type: 'message' as const, role: 'user' as const, content: 'one' },
      { type: 'function_call' as const, call_id: 'c', name: 'add', arguments: '{}' },
    ];
    const added = await client.conversations.items.create(id, { items });
    expect(added.data).toMatchObject([{ role: 'user' }, { type: 'function_call', call_id: 'c' }]);
    expect(added).toMatchObject({ object: 'list', first_id: added.data[0]?.id, has_more: false });
    expect((await client.conversations.retrieve(id)).metadata).toEqual({ a: '1', b: '2' });
  });

  it('are the context of a response and get its items', async () => {
    const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'before' }] });
    const first = await create({ input: 'one', conversation: id });
    expect(first.conversation).toEqual({ id });
    assertValid(first);
    const second = await create({ input: 'recall', conversation: { id } });
    expect(JSON.parse(second.output_text)).toEqual([
      'user: before',
      'user: one',
      'assistant: one',
      'user: recall',
    ]);
    await create({ input: 'unkept', conversation: id, store: false });
    const { data } = await client.conversations.items.list(id, { order: 'asc' });
    expect(data.map((item) => item.type === 'message' && item.role)).toEqual([
      'user',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
  });
});
