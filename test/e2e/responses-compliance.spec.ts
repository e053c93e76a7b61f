import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';
import {
  askerOf,
  assertValid,
  assertValidLog,
  collect,
  newClient,
  problemsOf,
  responseOf,
  textOf,
} from './helpers/response-events.js';
import { ResponseSocketClient } from './helpers/response-socket.js';
import { scriptedModel as model } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

/** What the public compliance suite of Open Responses covers, in words of our own, 16 requests at a time. */
type Input = OpenAI.Responses.ResponseInput;
type Check = () => Promise<void>;

const atOnce = 16;
const png = `data:image/png;base64,${Buffer.alloc(64).toString('base64')}`;

let stack: ScriptedStack;
let client: OpenAI;
const { create, stream } = askerOf(() => client);

beforeAll(async () => {
  // The suite has no way to say what should become of an image that the model cannot see.
  stack = await startScriptedStack({ RESPONSES_IMAGE_INPUT: 'describe' });
  client = newClient(stack.gateway.url);
});
afterAll(() => stack?.stop());

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a place',
  strict: false,
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};
const askWeather = 'use get_weather {"location":"San Francisco"}';

async function completed(
  body: Parameters<typeof create>[0],
  type = 'message',
): Promise<OpenAI.Responses.Response> {
  const response = await create(body);
  assertValid(response);
  expect(response.status).toBe('completed');
  expect(response.output.map((item) => item.type)).toContain(type);
  return response;
}

async function overSocket(check: (socket: ResponseSocketClient) => Promise<void>): Promise<void> {
  const socket = await ResponseSocketClient.open(stack.gateway.url);
  try {
    await check(socket);
  } finally {
    socket.close();
  }
}

const checks: Record<string, Check> = {
  'a basic answer': async () => {
    await completed({ input: [{ type: 'message', role: 'user', content: 'hello there friend' }] });
  },
  'a stream': async () => {
    const events = await collect(await stream({ input: 'count 5' }));
    assertValidLog(events);
    expect(textOf(events)).toBe('1 2 3 4 5 ');
  },
  'a system prompt': async () => {
    const input: Input = [
      { type: 'message', role: 'system', content: 'Be a pirate.' },
      { type: 'message', role: 'user', content: 'recall' },
    ];
    expect((await completed({ input })).output_text).toContain('system: Be a pirate.');
  },
  'several turns': async () => {
    const input: Input = [
      { role: 'user', content: 'My name is Alice.' },
      { role: 'assistant', content: 'Hello Alice!' },
      { role: 'user', content: 'recall' },
    ];
    expect((await completed({ input })).output_text).toContain('My name is Alice.');
  },
  'phases of the assistant': async () => {
    const input = [
      { type: 'message', role: 'assistant', phase: 'commentary', content: 'I look it up.' },
      { type: 'message', role: 'assistant', phase: 'final_answer', content: 'Four.' },
      { type: 'message', role: 'user', content: 'recall' },
    ] as Input;
    const { id, output_text } = await completed({ input });
    expect(output_text).toContain('assistant: Four.');
    const { data } = await client.responses.inputItems.list(id, { order: 'asc' });
    expect(data.map((item) => 'phase' in item && item.phase)).toEqual(['commentary', 'final_answer', false]);
  },
  'a tool call': async () => {
    await completed({ input: askWeather, tools: [weather] }, 'function_call');
  },
  'a tool call in a stream': async () => {
    const events = await collect(await stream({ input: askWeather, tools: [weather] }));
    assertValidLog(events);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
      ]) as string[],
    );
  },
  'the output of a tool call': async () => {
    const first = await completed({ input: askWeather, tools: [weather] }, 'function_call');
    const call = first.output.find((item) => item.type === 'function_call');
    if (call?.type !== 'function_call') throw new Error('No call');
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'sunny' };
    const input: Input = [{ role: 'user', content: askWeather }, call, output];
    expect((await completed({ input, tools: [weather] })).output_text).toBe('sunny');
    const chained = { input: [output], tools: [weather], previous_response_id: first.id };
    expect((await completed(chained)).output_text).toBe('sunny');
  },
  'a previous response': async () => {
    const first = await completed({ input: 'cobalt' });
    const next = await completed({ input: 'recall', previous_response_id: first.id });
    expect(next.output_text).toContain('user: cobalt');
  },
  'an image': async () => {
    const content = [
      { type: 'input_text' as const, text: 'recall' },
      { type: 'input_image' as const, image_url: png, detail: 'auto' as const },
    ];
    expect((await completed({ input: [{ role: 'user', content }] })).output_text).toContain('image/png');
  },
  'a compaction': async () => {
    const body = { model, prompt_cache_key: 'k', input: [{ role: 'user', content: 'Launch on Tuesday.' }] };
    const { status, body: compacted } = await postJson(`${stack.gateway.url}/v1/responses/compact`, body);
    expect(status).toBe(200);
    expect(problemsOf('CompactResource', compacted)).toEqual([]);
  },
  'a compaction without a model': async () => {
    const { status } = await postJson(`${stack.gateway.url}/v1/responses/compact`, { input: 'x' });
    expect(status).toBe(400);
  },
  'a turn over a WebSocket': () =>
    overSocket(async (socket) => assertValidLog(await socket.turn({ model, input: 'count 3' }))),
  'turns over a WebSocket, one after the other': () =>
    overSocket(async (socket) => {
      for (const input of ['first', 'second'])
        expect(textOf(await socket.turn({ model, store: false, input }))).toBe(input);
    }),
  'a continuation over a WebSocket, and its recovery on another': () =>
    overSocket(async (socket) => {
      const { id } = responseOf(await socket.turn({ model, store: false, input: 'cobalt' }));
      const body = { model, store: false, previous_response_id: id, input: 'recall' };
      expect(textOf(await socket.turn(body))).toContain('user: cobalt');
      await overSocket(async (other) => {
        expect(await other.turn(body)).toMatchObject([{ error: { code: 'previous_response_not_found' } }]);
        assertValidLog(await other.turn({ model, store: false, input: 'recovered' }));
      });
    }),
  'a compacted context as a new chain over a WebSocket': () =>
    overSocket(async (socket) => {
      const { output } = await client.responses.compact({ model, input: 'slate' });
      const input = [...output, { role: 'user', content: 'recall' }];
      expect(textOf(await socket.turn({ model, store: false, input }))).toContain('user: slate');
    }),
};

describe('the coverage of the Open Responses compliance suite', () => {
  it('has as many checks as run at a time', () => {
    expect(Object.keys(checks)).toHaveLength(atOnce);
  });

  it('holds with all of them at once, twice', async () => {
    for (let round = 0; round < 2; round += 1) {
      const outcomes = await Promise.allSettled(Object.values(checks).map((check) => check()));
      const failed = Object.keys(checks).flatMap((name, index) => {
        const outcome = outcomes[index];
        return outcome?.status === 'rejected' ? [`${name}: ${String(outcome.reason)}`] : [];
      });
      expect(failed).toEqual([]);
    }
  });
});
