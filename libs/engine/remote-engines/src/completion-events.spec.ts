import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { GenerationEvent } from '#engine/generation';
import { sendJson, startEngine, type TestEngine } from './engine.fixture.js';
import { openRemoteGenerator } from './remote-generator.js';

const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const choice = (more: object) => frame({ choices: [{ index: 0, finish_reason: null, ...more }] });
const said = (content: unknown) => choice({ delta: { content } });
const ended = (finish_reason: unknown = 'stop', more: object = {}) =>
  frame({ choices: [{ index: 0, delta: {}, finish_reason }], ...more });
const usage = frame({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } });
const done = 'data: [DONE]\n\n';
const message = (more: object, finish_reason = 'stop') => ({
  choices: [{ index: 0, message: { role: 'assistant', ...more }, finish_reason }],
  usage: { prompt_tokens: 5, completion_tokens: 7 },
});

describe('an answer of an engine', () => {
  let engine: TestEngine | undefined;
  afterEach(() => engine?.close());

  async function read(reply: string | ((response: ServerResponse) => void), parameters = {}) {
    engine = await startEngine({
      '/v1/models': (response) => sendJson(response, { data: [{ id: 'fake' }] }),
      '/v1/chat/completions': (response) => {
        if (typeof reply !== 'string') return reply(response);
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(reply);
      },
    });
    const generator = await openRemoteGenerator({ endpoint: engine.url });
    const messages = [{ role: 'user' as const, content: 'Hello?' }];
    const events: GenerationEvent[] = [];
    for await (const event of generator.generate({ messages, parameters })) events.push(event);
    const join = (part: 'text' | 'reasoning') => events.map((event) => event[part] ?? '').join('');
    const { finishReason, usage: used } = events.at(-1) ?? {};
    return { events, text: join('text'), reasoning: join('reasoning'), finishReason, usage: used };
  }

  const whole = { text: 'Hello', finishReason: 'stop', usage: { promptTokens: 5, completionTokens: 7 } };

  it.each([
    ['without [DONE]', said('Hello') + ended() + usage],
    ['without a blank line at the end', (said('Hello') + ended() + usage).trimEnd()],
    ['with [DONE] without a blank line', `${said('Hello')}${ended()}${usage}data: [DONE]`],
    ['with choices: null', said('Hello') + ended() + usage.replace('[]', 'null') + done],
    ['without choices', said('Hello') + ended() + usage.replace('"choices":[],', '') + done],
    ['with content as parts', said([{ type: 'text', text: 'Hel' }, 'lo']) + ended() + usage + done],
    ['with content as one part', said({ type: 'text', text: 'Hello' }) + ended() + usage + done],
    ['with index as text', said('Hello').replace('0', '"0"') + ended().replace('0', '"0"') + usage + done],
    ['with index null', said('Hello').replace('0', 'null') + ended() + usage + done],
    [
      'with empty frames',
      `data: {}\n\n${said('Hello')}data:\n\ndata: \n\ndata: null\n\n: ping\n\n${ended()}${usage}${done}`,
    ],
    ['with a message in place of a delta', frame(message({ content: 'Hello' })) + done],
    ['with null fields', said('Hello') + choice({ delta: null, logprobs: null }) + ended() + usage + done],
    [
      'with odd optional fields',
      choice({ delta: { content: 'Hello', refusal: 0, tool_calls: {} }, logprobs: [] }) +
        ended() +
        usage +
        done,
    ],
    ['with lines of JSON', [said('Hello'), ended(), usage].map((one) => one.slice(6, -1)).join('')],
  ])('is read %s', async (_name, reply) => {
    expect(await read(reply)).toMatchObject(whole);
  });

  it.each([
    ['one JSON body', 'application/json', JSON.stringify(message({ content: 'Hello' }))],
    [
      'an indented JSON body',
      'application/json',
      `\n${JSON.stringify(message({ content: 'Hello' }), null, 2)}`,
    ],
    [
      'one JSON body that is called a stream',
      'text/event-stream',
      JSON.stringify(message({ content: 'Hello' })),
    ],
    ['a stream that is called JSON', 'application/json', said('Hello') + ended() + usage + done],
  ])('may be %s', async (_name, type, body) => {
    const reply = (response: ServerResponse) => response.writeHead(200, { 'content-type': type }).end(body);
    expect(await read(reply)).toMatchObject(whole);
  });

  it('is whole if the connection breaks after its reason', async () => {
    const { text, finishReason } = await read((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(said('Hello') + ended(), () => response.destroy());
    });
    expect({ text, finishReason }).toEqual({ text: 'Hello', finishReason: 'stop' });
  });

  it.each([
    ['null', null, 2, 1],
    ['{}', {}, 2, 1],
    ['numbers that are null', { prompt_tokens: null, completion_tokens: null, total_tokens: null }, 2, 1],
    ['a total', { total_tokens: 9 }, 8, 1],
    ['prompt and total', { prompt_tokens: 3, total_tokens: 9 }, 3, 6],
    ['fractions', { prompt_tokens: 5.0, completion_tokens: 1.5, total_tokens: 7 }, 5, 2],
    ['texts', { prompt_tokens: '5', completion_tokens: '7' }, 5, 7],
    ['other values', { prompt_tokens: -1, completion_tokens: 'many', total_tokens: [] }, 2, 1],
    ['text', 'many', 2, 1],
    [
      'details that are odd',
      { prompt_tokens: 5, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 'x' } },
      5,
      7,
    ],
  ])('has a usage, also if the engine reports %s', async (_name, given, promptTokens, completionTokens) => {
    const { text, usage: used } = await read(said('Hello') + ended('stop', { usage: given }) + done);
    expect(text).toBe('Hello');
    expect(used).toEqual({ promptTokens, completionTokens, cachedTokens: 0 });
  });

  it('has the latest usage of all frames', async () => {
    const counted = (n: number) => ({ usage: { prompt_tokens: 5, completion_tokens: n } });
    const frames = frame({ choices: [{ index: 0, delta: { content: 'Hello' } }], ...counted(1) });
    const { usage: used } = await read(
      frames + ended('stop', counted(2)) + ended(null, { usage: null }) + done,
    );
    expect(used).toMatchObject({ promptTokens: 5, completionTokens: 2 });
  });

  it.each([
    [
      'reasoning beside an empty reasoning_content',
      { reasoning_content: '', reasoning: 'plan', content: '' },
    ],
    ['reasoning_content', { reasoning_content: 'plan' }],
    ['parts', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'plan' }] }] }],
  ])('has the reasoning of %s', async (_name, delta) => {
    expect(await read(choice({ delta }) + said('Hello') + ended() + usage + done)).toMatchObject({
      ...whole,
      reasoning: 'plan',
    });
  });

  it.each([
    ['stop', 'stop'],
    ['eos_token', 'stop'],
    ['end_turn', 'stop'],
    ['something new', 'stop'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['MAX_TOKENS', 'length'],
    ['model_length', 'length'],
    ['tool_use', 'tool_calls'],
    ['content_filter', 'content_filter'],
    ['SAFETY', 'content_filter'],
  ])('that ends with %s has the reason %s', async (given, finishReason) => {
    expect((await read(said('Hello') + ended(given) + usage + done)).finishReason).toBe(finishReason);
  });

  it.each(['error', 'abort', 'cancelled'])('that ends with %s is an error', async (reason) => {
    const error = read(said('Hello') + ended(reason) + usage + done);
    await expect(error).rejects.toMatchObject({ code: 'bad_upstream' });
    await expect(error).rejects.toThrow(reason);
  });

  it.each([
    ['[DONE] alone', done, /empty answer/],
    ['nothing', '', /ended the stream early/],
    ['only a usage', usage + done, /empty answer/],
    ['a beginning', said('Hel'), /ended the stream early/],
    ['a frame that is cut', `${said('Hel')}data: {"choices": [{"ind`, /ended the stream early/],
    ['a JSON body without an answer', JSON.stringify({ id: 'x', choices: [] }), /ended the stream early/],
    ['an error as an event', 'event: error\ndata: {"message": "GPU fell over"}\n\n', /GPU fell over/],
    ['an error as a JSON body', JSON.stringify({ error: { message: 'GPU fell over' } }), /GPU fell over/],
    ['an error in vLLM’s older form', frame({ object: 'error', message: 'GPU fell over' }), /GPU fell over/],
    ['an error after text', said('Hel') + frame({ error: { message: 'GPU fell over' } }), /GPU fell over/],
  ])('is an error for %s', async (_name, reply, text) => {
    const error = read(reply);
    await expect(error).rejects.toMatchObject({ code: 'bad_upstream' });
    await expect(error).rejects.toThrow(text);
  });

  it('is an error if the engine writes fewer answers than were asked for', async () => {
    const error = read(said('Hello') + ended() + usage + done, { n: 2 });
    await expect(error).rejects.toThrow(/empty answer/);
  });

  it('may be a call in the deprecated format', async () => {
    const called = { function_call: { name: 'get_weather', arguments: '{"city": "Oslo"}' } };
    const { events, finishReason } = await read(choice({ delta: called }) + ended('function_call') + done);
    expect(events.flatMap(({ toolCalls = [] }) => toolCalls)).toEqual([
      { index: 0, name: 'get_weather', input: '{"city": "Oslo"}' },
    ]);
    expect(finishReason).toBe('tool_calls');
  });

  it('may be calls in one JSON body, whose place is their index', async () => {
    const calls = ['a', 'b'].map((id) => ({ id, function: { name: id, arguments: {} } }));
    const { events } = await read(
      JSON.stringify(message({ content: null, tool_calls: calls }, 'tool_calls')),
    );
    expect(events.flatMap(({ toolCalls = [] }) => toolCalls)).toMatchObject([
      { index: 0, id: 'a', name: 'a', input: '{}' },
      { index: 1, id: 'b', name: 'b', input: '{}' },
    ]);
  });
});
