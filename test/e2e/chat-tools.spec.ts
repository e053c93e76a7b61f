import type OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
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

const add = { type: 'function' as const, function: { name: 'add', parameters: { type: 'object' } } };
const ask = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content }];

describe('tools in chat completions', () => {
  it('are called, and their results continue the chat', async () => {
    const messages = ask('use add {"a": 1}');
    const completion = await client.chat.completions.create({ model, messages, tools: [add] });
    expect(problemsOf('CreateChatCompletionResponse', completion)).toEqual([]);
    const [choice] = completion.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ type: 'function', function: { arguments: '{"a": 1}' } }] },
    });
    const [call] = choice?.message.tool_calls ?? [];
    const result = { role: 'tool' as const, tool_call_id: call?.id ?? '', content: '2' };
    const next = await client.chat.completions.create({
      model,
      messages: [...messages, choice!.message, result],
      tools: [add],
    });
    expect(next.choices[0]?.message.content).toBe('2');
    expect(stack.witness.asked?.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: call?.id, name: 'add', input: '{"a": 1}' }],
      },
      { role: 'tool', content: '2', toolCallId: call?.id },
    ]);
  });

  it("are called in a stream, as the client's helper reads it", async () => {
    const run = client.chat.completions.stream({ model, messages: ask('use add {"a": 1}'), tools: [add] });
    const pieces: string[] = [];
    run.on('tool_calls.function.arguments.delta', ({ arguments_delta }) => pieces.push(arguments_delta));
    const { choices } = await run.finalChatCompletion();
    expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { arguments: '{"a": 1}' } }]);
    expect(pieces.filter((piece) => piece !== '')).toEqual(['{"a": ', '1}']);
  });

  it('are run by the client until the model answers', async () => {
    const runner = client.chat.completions.runTools({
      model,
      messages: ask('use add {"a":1}'),
      tools: [
        zodFunction({
          name: 'add',
          parameters: z.object({ a: z.number() }),
          function: ({ a }) => `sum ${a + 1}`,
        }),
      ],
    });
    expect(await runner.finalContent()).toBe('sum 2');
    expect(stack.witness.asked?.tools?.[0]).toMatchObject({ name: 'add', strict: true });
  });

  it('may be custom, or the deprecated functions', async () => {
    const custom = await client.chat.completions.create({
      model,
      messages: ask('use patch + a'),
      tools: [{ type: 'custom', custom: { name: 'patch' } }],
    });
    expect(custom.choices[0]?.message.tool_calls).toMatchObject([
      { type: 'custom', custom: { name: 'patch', input: '+ a' } },
    ]);
    const legacy = await client.chat.completions.create({
      model,
      messages: ask('use add {}'),
      functions: [{ name: 'add' }],
    });
    expect(legacy.choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: { name: 'add', arguments: '{}' } },
    });
  });

  it('are called by the model of a mega service, which sees its passages', async () => {
    const completion = await client.chat.completions.create({
      model: 'chatqna',
      messages: ask('use add {"a": 1}'),
      tools: [add],
    });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'add', arguments: '{"a": 1}' } }] },
    });
    expect(stack.witness.asked).toMatchObject({ tools: [{ name: 'add' }], documents: [{}, {}] });
  });

  it('are refused by a mega service that cannot call them only where a call is demanded', async () => {
    const create = (more: object) =>
      client.chat.completions.create({
        model: 'chatqna-guarded',
        messages: ask('What is tea?'),
        tools: [add],
        ...more,
      });
    for (const tool_choice of ['required', { type: 'function', function: { name: 'add' } }])
      expect(await failureOf(create({ tool_choice }))).toMatchObject({ status: 400, param: 'tool_choice' });
    // This stack has no guardrail service.
    expect(await failureOf(create({ tool_choice: 'auto' }))).toMatchObject({ status: 503 });
  });
});

describe('search, find and open in chat completions', () => {
  const search = { type: 'search', max_results: 2 } as unknown as OpenAI.ChatCompletionTool;
  const messages = ask('use search {"query": "tea"}');

  it('are run by the gateway, and the answer cites what they find', async () => {
    const completion = await client.chat.completions.create({ model, messages, tools: [add, search] });
    expect(stack.witness.searched.at(-1)).toBe('tea');
    expect(stack.witness.asked?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(stack.witness.asked?.documents).toHaveLength(2);
    const [choice] = completion.choices;
    expect(choice).toMatchObject({
      finish_reason: 'stop',
      message: { annotations: [{ type: 'url_citation', url_citation: { title: 'file-1.md' } }] },
    });
    expect(choice?.message.tool_calls).toBeUndefined();
    expect(choice?.message.content).toContain('[2]');
    expect(completion.usage?.prompt_tokens).toBeGreaterThan(stack.witness.asked!.messages.length);
  });

  it('are run in a stream, which has one end', async () => {
    const stream = await client.chat.completions.create({ model, messages, tools: [search], stream: true });
    const choices: OpenAI.ChatCompletionChunk.Choice[] = [];
    for await (const chunk of stream) choices.push(...chunk.choices);
    expect(choices.map(({ finish_reason }) => finish_reason).filter(Boolean)).toEqual(['stop']);
    expect(choices.at(-1)?.delta).toMatchObject({ annotations: [{}] });
    expect(choices.some(({ delta }) => delta.tool_calls)).toBe(false);
  });

  it('tell the model of a failure, and leave the calls of the caller to the caller', async () => {
    const wrong = ask('use search {"query": ""}\nuse open {"document": "x", "from": 3, "to": 1}');
    const tools = [search, { type: 'open' } as unknown as OpenAI.ChatCompletionTool];
    const failed = await client.chat.completions.create({ model, messages: wrong, tools });
    expect(failed.choices[0]?.message.content).toMatch(/The tool failed: query: .* and The tool failed: to/s);
    const both = ask('use search {"query": "tea"}\nuse add {"a": 1}');
    const mixed = await client.chat.completions.create({ model, messages: both, tools: [search, add] });
    expect(mixed.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'add' } }] },
    });
    expect(mixed.choices[0]?.message.tool_calls).toHaveLength(1);
  });

  it('are refused or named where they cannot be run', async () => {
    const create = (more: object) => client.chat.completions.create({ model, messages, ...more });
    const entry = { ...search, top: 1 };
    expect(await failureOf(create({ tools: [entry] }))).toMatchObject({ status: 400, param: 'tools[0].top' });
    expect(await failureOf(create({ tools: [search], n: 2 }))).toMatchObject({ status: 400, param: 'n' });
    const body = { model: 'chatqna', messages: ask('What is tea?'), tools: [search] };
    const { response } = await client.chat.completions
      .create(body as OpenAI.ChatCompletionCreateParamsNonStreaming)
      .withResponse();
    expect(response.headers.get('x-meganest-ignored')).toBe('tools.search');
  });
});

describe('forms of answers in chat completions', () => {
  it('are held to and parsed', async () => {
    const completion = await client.chat.completions.parse({
      model,
      messages: ask('{"a":5}'),
      response_format: zodResponseFormat(z.object({ a: z.number() }), 'sum'),
    });
    expect(completion.choices[0]?.message.parsed).toEqual({ a: 5 });
    expect(stack.witness.asked?.constraint?.type).toBe('json_schema');
  });

  it("may be vLLM's", async () => {
    const body = { model, messages: ask('yes'), guided_choice: ['yes', 'no'] };
    await client.chat.completions.create(body);
    const constraint = { type: 'choice', choices: ['yes', 'no'], at: 'guided_choice' };
    expect(stack.witness.asked?.constraint).toEqual(constraint);
  });

  it('show what the model thought under the name that others use', async () => {
    const completion = await client.chat.completions.create({ model, messages: ask('think of tea: Hot.') });
    expect(completion.choices[0]?.message).toMatchObject({ content: 'Hot.', reasoning_content: 'of tea' });
  });

  it.each<[Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>, string]>([
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ response_format: { type: 'xml' } as never }, 'response_format.type'],
  ])('refuse %j', async (body, param) => {
    const request = client.chat.completions.create({ model, messages: ask('x'), ...body });
    expect(await failureOf(request)).toMatchObject({ status: 400, param });
  });
});
