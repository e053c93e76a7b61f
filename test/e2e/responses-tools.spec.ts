import type OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { postJson } from './helpers/http.js';
import {
  assertValid,
  assertValidLog,
  askerOf,
  collect,
  failureOf,
  newClient,
  responseOf,
} from './helpers/response-events.js';
import { scriptedModel as model } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

let stack: ScriptedStack;
let client: OpenAI;
const { create, stream } = askerOf(() => client);

beforeAll(async () => {
  stack = await startScriptedStack();
  client = newClient(stack.gateway.url);
});
afterAll(() => stack?.stop());

const add = {
  type: 'function' as const,
  name: 'add',
  parameters: { type: 'object', properties: { a: { type: 'number' } } },
  strict: true,
};
const patch = { type: 'custom' as const, name: 'patch', description: 'Changes files.' };
const files = {
  type: 'namespace' as const,
  name: 'files',
  description: 'Files.',
  tools: [{ type: 'function' as const, name: 'read' }],
};

describe('function tools', () => {
  it('are called in a stream, and their results continue the response', async () => {
    const events = await collect(await stream({ input: 'use add {"a": 1}', tools: [add] }));
    assertValidLog(events);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const response = responseOf(events);
    const [call] = response.output;
    if (call?.type !== 'function_call') throw new Error('no call');
    expect(call).toMatchObject({ name: 'add', arguments: '{"a": 1}', status: 'completed' });
    expect(await client.responses.retrieve(response.id)).toMatchObject({ output: [call] });

    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: '2' };
    const next = await create({ input: [output], previous_response_id: response.id, tools: [add] });
    expect(next.output_text).toBe('2');
    assertValid(next);
    expect(stack.witness.asked?.messages).toEqual([
      { role: 'user', content: 'use add {"a": 1}' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: call.call_id, name: 'add', input: '{"a": 1}' }],
      },
      { role: 'tool', content: '2', toolCallId: call.call_id },
    ]);
  });

  it("are accumulated by the client's own stream helper", async () => {
    const seen: string[] = [];
    const run = client.responses.stream({ model, input: 'use add {"a": 1}', tools: [add] });
    run.on('response.function_call_arguments.delta', ({ snapshot }) => seen.push(snapshot));
    const response = await run.finalResponse();
    expect(seen.at(-1)).toBe('{"a": 1}');
    expect(response.output[0]).toMatchObject({ type: 'function_call', parsed_arguments: { a: 1 } });
  });

  it('are called several at once, each an item of its own', async () => {
    const input = 'use add {"a":1}\nuse add {"a":2}';
    const response = await create({ input, tools: [add] });
    expect(response.output).toMatchObject([{ arguments: '{"a":1}' }, { arguments: '{"a":2}' }]);
    expect(new Set(response.output.map(({ id }) => id)).size).toBe(2);
    assertValid(response);
  });

  it.each<[OpenAI.Responses.ResponseCreateParams['tool_choice'], unknown]>([
    ['none', { mode: 'none' }],
    ['required', { mode: 'required' }],
    [
      { type: 'function', name: 'add' },
      { mode: 'required', names: ['add'] },
    ],
    [
      { type: 'custom', name: 'patch' },
      { mode: 'required', names: ['patch'] },
    ],
    [
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'add' }] },
      { mode: 'auto', names: ['add'] },
    ],
  ])('reach the model with the choice %j', async (tool_choice, expected) => {
    const response = await create({
      input: 'x',
      tools: [add, patch],
      tool_choice,
      parallel_tool_calls: false,
    });
    expect(response.tool_choice).toEqual(tool_choice);
    expect(stack.witness.asked).toMatchObject({ tool_choice: expected, parallel_tool_calls: false });
  });

  it('refuse a choice of what is not there', async () => {
    const request = create({ input: 'x', tools: [add], tool_choice: { type: 'function', name: 'fly' } });
    expect(await failureOf(request)).toMatchObject({ status: 400, param: 'tool_choice' });
  });

  it('are called in the background', async () => {
    const { id } = await create({ input: 'use add {"a":1}', tools: [add], background: true });
    const events = await collect(await client.responses.retrieve(id, { stream: true }));
    assertValidLog(events);
    expect(responseOf(events).output).toMatchObject([{ type: 'function_call', name: 'add' }]);
  });
});

describe('custom tools and namespaces', () => {
  it('answer raw input', async () => {
    const events = await collect(await stream({ input: 'use patch + a line', tools: [patch] }));
    assertValidLog(events);
    expect(events.map(({ type }) => type)).toContain('response.custom_tool_call_input.done');
    expect(responseOf(events).output).toMatchObject([
      { type: 'custom_tool_call', name: 'patch', input: '+ a line' },
    ]);
  });

  it('answer names as they were given', async () => {
    const response = await create({ input: 'use files__read {}', tools: [files] });
    expect(response.output).toMatchObject([{ type: 'function_call', name: 'read', namespace: 'files' }]);
    assertValid(response);
  });

  it('break on no type, and say which have no effect', async () => {
    const tools = [add, { type: 'web_search' }, { type: 'local_shell' }, files];
    const answer = await postJson(`${stack.gateway.url}/v1/responses`, { model, input: 'Hello', tools });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-meganest-ignored')).toBe('tools.web_search, tools.local_shell');
  });
});

describe('text.format', () => {
  const Sum = z.object({ a: z.number() });

  it('is held to, repeated, and parsed by the client', async () => {
    const format = zodTextFormat(Sum, 'sum');
    const response = await client.responses.parse({ model, input: '{"a":5}', text: { format } });
    expect(response.output_parsed).toEqual({ a: 5 });
    expect(response.text?.format).toMatchObject({ type: 'json_schema', name: 'sum', strict: true });
    assertValid(response);
    expect(stack.witness.asked?.constraint).toMatchObject({ type: 'json_schema', schema: format.schema });
  });

  it('is a field of the path where it is wrong', async () => {
    const format = { type: 'json_schema', name: 'x' } as never;
    expect(await failureOf(create({ input: 'x', text: { format } }))).toMatchObject({
      status: 400,
      param: 'text.format.schema',
    });
  });

  it('is held to by the model of a mega service', async () => {
    const format = { type: 'json_object' as const };
    await create({ model: 'chatqna', input: 'What is tea?', text: { format } });
    expect(stack.witness.asked).toMatchObject({ constraint: { type: 'json_object' }, documents: [{}, {}] });
  });

  it('is nothing that a mega service with a guard behind its model has', async () => {
    const format = { type: 'json_object' as const };
    const request = create({ model: 'chatqna-guarded', input: 'What is tea?', text: { format } });
    expect(await failureOf(request)).toMatchObject({ status: 400, param: 'text.format' });
  });
});

describe('reasoning', () => {
  it('is an item before the answer, and comes back to the model', async () => {
    const events = await collect(await stream({ input: 'think of tea: It is hot.' }));
    assertValidLog(events);
    const response = responseOf(events);
    expect(response.output).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'of tea' }] },
      { type: 'message', content: [{ text: 'It is hot.' }] },
    ]);
    await create({ input: 'And?', previous_response_id: response.id });
    expect(stack.witness.asked?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'It is hot.', reasoning: 'of tea' },
      { role: 'user', content: 'And?' },
    ]);
  });

  it('has an effort, which is named where the model cannot have one', async () => {
    const body = { model, input: 'x', reasoning: { effort: 'high' } };
    const answer = await postJson(`${stack.gateway.url}/v1/responses`, body);
    expect(answer.headers.get('x-meganest-ignored')).toBeNull();
    expect(stack.witness.asked?.chat_template_kwargs).toEqual({
      enable_thinking: true,
      reasoning_effort: 'high',
    });
  });
});
