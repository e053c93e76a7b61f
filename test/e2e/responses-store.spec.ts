import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';
import { assertValid, askerOf, failureOf, newClient, problemsOf } from './helpers/response-events.js';
import { scriptedModel as model } from './helpers/scripted-services.js';
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

describe('the store', () => {
  it('forgets a deleted response and what store: false made', async () => {
    const response = await create({ input: 'x' });
    const deleted = await fetch(`${url}/v1/responses/${response.id}`, { method: 'DELETE' });
    expect(await deleted.json()).toEqual({ id: response.id, object: 'response', deleted: true });
    expect(await failureOf(client.responses.retrieve(response.id))).toMatchObject({ status: 404 });
    expect(await failureOf(client.responses.delete(response.id))).toMatchObject({ status: 404 });
    const other = await create({ input: 'y' });
    await client.responses.delete(other.id);
    expect(await failureOf(client.responses.retrieve(other.id))).toMatchObject({ status: 404 });
    const unkept = await create({ input: 'x', store: false });
    assertValid(unkept);
    expect(await failureOf(client.responses.retrieve(unkept.id))).toMatchObject({ status: 404 });
    expect(await failureOf(create({ input: 'x', previous_response_id: unkept.id }))).toMatchObject({
      code: 'previous_response_not_found',
    });
  });

  it('gives the whole chain as context, without its instructions', async () => {
    const first = await create({ input: 'one', instructions: 'Secret.' });
    const second = await create({ input: 'two', previous_response_id: first.id });
    const third = await create({ input: 'recall', previous_response_id: second.id, instructions: 'New.' });
    expect(JSON.parse(third.output_text)).toEqual([
      'system: New.',
      'user: one',
      'assistant: one',
      'user: two',
      'assistant: two',
      'user: recall',
    ]);
    expect(third.previous_response_id).toBe(second.id);
  });

  it('resolves references to items of earlier responses', async () => {
    const first = await create({ input: 'one' });
    const id = first.output[0]?.id ?? '';
    const second = await create({
      input: [
        { type: 'item_reference', id },
        { role: 'user', content: 'recall' },
      ],
    });
    expect(JSON.parse(second.output_text)).toEqual(['assistant: one', 'user: recall']);
  });

  it('lists input items in both orders, page by page', async () => {
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }));
    const { id } = await create({ input });
    const page = await client.responses.inputItems.list(id, { limit: 2, order: 'asc' });
    expect(page.data).toMatchObject([{ content: [{ text: 'a' }] }, { content: [{ text: 'b' }] }]);
    expect(
      problemsOf('ResponseItemList', await (await fetch(`${url}/v1/responses/${id}/input_items`)).json()),
    ).toEqual([]);
    const all: unknown[] = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 2 })) all.push(item);
    expect(all).toMatchObject(['c', 'b', 'a'].map((text) => ({ content: [{ text }] })));
    expect(await failureOf(client.responses.inputItems.list(id, { after: 'msg_0' }))).toMatchObject({
      status: 400,
      param: 'after',
    });
  });

  it('drops the oldest turns with truncation auto, and refuses without', async () => {
    const turn = (number: number) => ({ role: 'user' as const, content: `${number} ${'x '.repeat(50)}` });
    const input = [...[1, 2, 3, 4].map(turn), { role: 'user' as const, content: 'recall' }];
    expect(await failureOf(create({ input }))).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    });
    const response = await create({ input, truncation: 'auto', instructions: 'Stay.' });
    const seen = JSON.parse(response.output_text) as string[];
    expect(seen.map((line) => line.slice(0, 8))).toEqual(['system: ', 'user: 3 ', 'user: 4 ', 'user: re']);
  });

  it('counts input tokens', async () => {
    const counted = await client.responses.inputTokens.count({
      model,
      input: 'one two three',
      instructions: 'four',
    });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: 4 });
  });

  it('answers an Idempotency-Key that comes again with the same response', async () => {
    const post = (input: string, key: string) =>
      postJson(`${url}/v1/responses`, { model, input }, { 'idempotency-key': key });
    const [first, second] = [await post('x', 'k1'), await post('x', 'k1')];
    expect(second.body).toEqual(first.body);
    expect((await post('y', 'k1')).status).toBe(409);
    expect((await post('y', 'k'.repeat(256))).status).toBe(400);
    const failed = await post('break after 1', 'k2');
    expect([failed.status, (await post('break after 1', 'k2')).status]).toEqual([500, 500]);
  });
});
