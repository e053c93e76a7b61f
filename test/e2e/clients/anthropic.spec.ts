import Anthropic, { APIError, AuthenticationError, NotFoundError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordClient } from '../../support/client-matrix.js';
import { scriptedModel } from '../helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from '../helpers/scripted-stack.js';

recordClient({ client: 'Anthropic SDK', name: '@anthropic-ai/sdk' });

const apiKey = 'anthropic-key-0123456789';

let stack: ScriptedStack;
let client: Anthropic;
beforeAll(async () => {
  stack = await startScriptedStack({ API_KEYS: apiKey });
  client = new Anthropic({ baseURL: stack.gateway.url, apiKey, maxRetries: 0 });
});
afterAll(() => stack?.stop());

type Params = Partial<Anthropic.MessageCreateParamsNonStreaming>;
const ask = (content: string | Anthropic.ContentBlockParam[], more: Params = {}) =>
  client.messages.create({
    model: scriptedModel,
    max_tokens: 100,
    messages: [{ role: 'user', content }],
    ...more,
  });

const add: Anthropic.Tool = {
  name: 'add',
  description: 'Adds two numbers.',
  input_schema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a'],
  },
};

describe('the Anthropic SDK', () => {
  it('creates a message', async () => {
    expect(await ask('say this')).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: scriptedModel,
      content: [{ type: 'text', text: 'say this' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 2, output_tokens: 2 },
    });
    expect(await ask('say this', { max_tokens: 1 })).toMatchObject({ stop_reason: 'max_tokens' });
  });

  it('knows a model under the name of one of Claude’s', async () => {
    expect(await ask('say this', { model: 'claude-sonnet-5' })).toMatchObject({
      model: 'claude-sonnet-5',
    });
  });

  it('streams a message, event by event', async () => {
    const stream = client.messages.stream({
      model: scriptedModel,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'count 3' }],
    });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      ...Array.from({ length: 3 }, () => 'content_block_delta'),
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(await stream.finalMessage()).toMatchObject({
      content: [{ type: 'text', text: '1 2 3 ' }],
      usage: { output_tokens: 3 },
    });
  });

  it('sends the system prompt, and the conversation with its blocks', async () => {
    const { content } = await client.messages.create({
      model: scriptedModel,
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: [{ type: 'text', text: 'hi' }] },
        { role: 'user', content: [{ type: 'text', text: 'recall', cache_control: { type: 'ephemeral' } }] },
      ],
    });
    expect(JSON.parse(content[0]?.type === 'text' ? content[0].text : '')).toEqual([
      'system: Be brief.',
      'user: hello',
      'assistant: hi',
      'user: recall',
    ]);
  });

  it('calls tools, and sends their results', async () => {
    const question = 'use add {"a":1,"b":2}\nuse add {"a":3,"b":4}';
    const first = await ask(question, { tools: [add] });
    expect(first).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'tool_use', name: 'add', input: { a: 1, b: 2 } },
        { type: 'tool_use', name: 'add', input: { a: 3, b: 4 } },
      ],
    });
    const results = first.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [
            {
              type: 'tool_result' as const,
              tool_use_id: block.id,
              content: `sum ${JSON.stringify(block.input)}`,
            },
          ]
        : [],
    );
    const second = await client.messages.create({
      model: scriptedModel,
      max_tokens: 100,
      tools: [add],
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content: first.content },
        { role: 'user', content: results },
      ],
    });
    expect(second.content).toMatchObject([{ text: 'sum {"a":1,"b":2} and sum {"a":3,"b":4}' }]);
  });

  it('runs tools in a loop over streams', async () => {
    const runner = client.beta.messages.toolRunner({
      model: scriptedModel,
      max_tokens: 100,
      stream: true,
      messages: [{ role: 'user', content: 'use add {"a":1,"b":2}' }],
      tools: [{ ...add, type: 'custom', run: () => 'sum 3', parse: (input: unknown) => input as object }],
    });
    expect((await runner.runUntilDone()).content).toMatchObject([{ type: 'text', text: 'sum 3' }]);
  });

  it.each([
    [{ type: 'any' }, { mode: 'required' }],
    [
      { type: 'tool', name: 'add' },
      { mode: 'required', names: ['add'] },
    ],
    [{ type: 'none' }, { mode: 'none' }],
    [{ type: 'auto' }, { mode: 'auto' }],
  ] as const)('chooses tools by %o', async (choice, asked) => {
    await ask('use add {"a":1}', { tools: [add], tool_choice: choice });
    expect(stack.witness.asked?.tool_choice).toEqual(asked);
    await ask('use add {"a":1}', {
      tools: [add],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    expect(stack.witness.asked?.parallel_tool_calls).toBe(false);
  });

  it('shows thinking with a signature, and sends it back', async () => {
    const thinking = { type: 'enabled', budget_tokens: 5_000 } as const;
    const first = await ask('think hard: x', { thinking, max_tokens: 10_000 });
    expect(first.content).toMatchObject([
      { type: 'thinking', thinking: 'hard', signature: expect.stringMatching(/.{20}/) as string },
      { type: 'text', text: 'x' },
    ]);
    expect(stack.witness.asked?.chat_template_kwargs).toMatchObject({ reasoning_effort: 'medium' });
    const again = (block: Anthropic.ContentBlockParam) =>
      client.messages
        .create({
          model: scriptedModel,
          max_tokens: 100,
          messages: [
            { role: 'user', content: 'think hard: x' },
            { role: 'assistant', content: [block, { type: 'text', text: 'x' }] },
            { role: 'user', content: 'and then?' },
          ],
        })
        .withResponse();
    const [block] = first.content;
    await again(block as Anthropic.ThinkingBlockParam);
    expect(stack.witness.asked?.messages[1]).toMatchObject({ content: 'x', reasoning: 'hard' });
    const { response } = await again({ type: 'thinking', thinking: 'foreign', signature: 'AAAA' });
    expect(stack.witness.asked?.messages[1]).not.toHaveProperty('reasoning');
    expect(response.headers.get('x-meganest-ignored')).toBe('messages.thinking');
  });

  it('shows the signature alone where thinking is not to be shown', async () => {
    const stream = client.messages.stream({
      model: scriptedModel,
      max_tokens: 10_000,
      thinking: { type: 'adaptive', display: 'omitted' },
      messages: [{ role: 'user', content: 'think hard: x' }],
    });
    const { content } = await stream.finalMessage();
    expect(content[0]).toMatchObject({ type: 'thinking', thinking: '' });
  });

  it('cites the passages that a mega service found', async () => {
    const expected = [
      {
        type: 'search_result_location',
        cited_text: 'say this',
        search_result_index: 0,
        title: 'file-1.md',
        source: expect.stringContaining('/#/documents/document-1?passage=1') as string,
      },
    ];
    const whole = await ask('say this', { model: 'chatqna' });
    expect(whole.content).toMatchObject([{ text: 'say this', citations: expected }]);
    const stream = client.messages.stream({
      model: 'chatqna',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'say this' }],
    });
    expect((await stream.finalMessage()).content).toMatchObject([{ citations: expected }]);
  });

  it('reads documents in the message', async () => {
    const document = (title: string, data: string): Anthropic.DocumentBlockParam => ({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data },
      title,
    });
    await ask([document('Ferry', 'It runs on plum juice.'), { type: 'text', text: 'What does it run on?' }]);
    expect(stack.witness.asked?.messages[0]?.content).toBe(
      'Ferry.txt:\nIt runs on plum juice.\nWhat does it run on?',
    );
  });

  it('counts tokens', async () => {
    const messages = [{ role: 'user' as const, content: 'one two three' }];
    expect(await client.messages.countTokens({ model: scriptedModel, messages, system: 'four' })).toEqual({
      input_tokens: 4,
    });
  });

  it('lists models in the form of Anthropic', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list({ limit: 2 })) ids.push(model.id);
    expect(ids).toEqual(expect.arrayContaining(['chatqna', scriptedModel]));
    expect(new Set(ids).size).toBe(ids.length);
    expect(await client.models.retrieve(scriptedModel)).toMatchObject({
      type: 'model',
      id: scriptedModel,
      created_at: '1970-01-01T00:00:01.000Z',
    });
  });

  it('gets errors in the form of Anthropic', async () => {
    const wrongKey = new Anthropic({ baseURL: stack.gateway.url, apiKey: 'wrong', maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'hi' }];
    const create = (more: object, from = client) =>
      from.messages
        .create({ model: scriptedModel, max_tokens: 10, messages, ...more })
        .catch((error: unknown) => error);
    expect(await create({}, wrongKey)).toBeInstanceOf(AuthenticationError);
    expect(await create({ model: 'none' })).toBeInstanceOf(NotFoundError);
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
    };
    for (const [more, param] of [
      [{ max_tokens: 0 }, 'max_tokens'],
      [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0].type'],
      [{ mcp_servers: [{ type: 'url', url: 'https://x', name: 'x' }] }, 'mcp_servers'],
      [{ messages: [...messages, { role: 'assistant', content: 'The' }] }, 'messages[1]'],
      [{ system: 'x', messages: [{ role: 'user', content: [image] }] }, 'messages[0].content[0]'],
      [{ tools: [{ name: 'a b', input_schema: { type: 'object' } }] }, 'tools[0].name'],
    ] as const) {
      const error = await create(more);
      expect(error).toBeInstanceOf(APIError);
      const { status, error: body, requestID } = error as APIError;
      expect({ param, status, body }).toMatchObject({
        status: 400,
        body: { type: 'error', error: { type: 'invalid_request_error', param } },
      });
      expect(requestID).not.toBeNull();
    }
  });

  it('gets an error in a stream that has begun', async () => {
    const stream = client.messages.stream({
      model: scriptedModel,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'break after 3' }],
    });
    await expect(stream.finalMessage()).rejects.toThrow('the script broke');
  });
});

describe('message batches', () => {
  const request = (
    custom_id: string,
    content: string,
    more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {},
  ) => ({
    custom_id,
    params: {
      model: scriptedModel,
      max_tokens: 100,
      messages: [{ role: 'user' as const, content }],
      ...more,
    },
  });
  const ended = async (id: string) => {
    const status = async () => (await client.messages.batches.retrieve(id)).processing_status;
    await expect.poll(status).toBe('ended');
  };

  it('are answered, listed, read and deleted', async () => {
    const batch = await client.messages.batches.create({
      requests: [request('good', 'say this'), request('bad', 'say that', { model: 'unknown-model' })],
    });
    expect(batch).toMatchObject({
      type: 'message_batch',
      processing_status: 'in_progress',
      results_url: null,
    });
    await ended(batch.id);
    const results: Anthropic.Messages.MessageBatchIndividualResponse[] = [];
    for await (const result of await client.messages.batches.results(batch.id)) results.push(result);
    expect(results).toMatchObject([
      { custom_id: 'good', result: { type: 'succeeded', message: { type: 'message', role: 'assistant' } } },
      { custom_id: 'bad', result: { type: 'errored', error: { error: { type: 'not_found_error' } } } },
    ]);
    expect(JSON.stringify(results[0])).toContain('say this');
    const [listed] = (await client.messages.batches.list({ limit: 1 })).data;
    expect(listed).toMatchObject({
      id: batch.id,
      request_counts: { processing: 0, succeeded: 1, errored: 1, canceled: 0, expired: 0 },
    });
    expect(await client.messages.batches.delete(batch.id)).toMatchObject({ type: 'message_batch_deleted' });
    await expect(client.messages.batches.retrieve(batch.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it('are cancelled, with the answers so far', async () => {
    const held = Array.from({ length: 4 }, (_unused, index) => request(`r${index}`, 'held: later'));
    const { id } = await client.messages.batches.create({
      requests: [request('first', 'say this'), ...held],
    });
    await expect
      .poll(async () => (await client.messages.batches.retrieve(id)).request_counts.succeeded)
      .toBe(1);
    await client.messages.batches.cancel(id);
    await ended(id);
    const { request_counts: counts, cancel_initiated_at: cancelledAt } =
      await client.messages.batches.retrieve(id);
    expect(counts).toMatchObject({ succeeded: 1, canceled: 4, processing: 0 });
    expect(cancelledAt).not.toBeNull();
  });

  it('refuse ids that are there twice, and streams', async () => {
    const create = (...requests: object[]) =>
      client.messages.batches.create({ requests } as Anthropic.Messages.BatchCreateParams);
    await expect(create(request('a', 'x'), request('a', 'y'))).rejects.toThrow('requests[1].custom_id');
    const streamed = { custom_id: 'a', params: { ...request('a', 'x').params, stream: true } };
    await expect(create(streamed)).rejects.toThrow('requests[0].params.stream');
  });
});
