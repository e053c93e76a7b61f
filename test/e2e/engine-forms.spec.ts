import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';
import { engineModel, lastText, type EngineTurn } from './helpers/scripted-engine.js';

let stack: EngineStack;

beforeAll(async () => {
  stack = await startEngineStack();
});
afterAll(() => stack?.stop());
afterEach(() => {
  stack.engine.script = undefined;
});

const schema = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
};
const format = { type: 'json_schema', name: 'answer', schema, strict: true };
const parameters = { ...schema };
const strictTool = (name: string) => ({ type: 'function', name, parameters, strict: true });
const chatTool = (name: string) => ({ type: 'function', function: { name, parameters, strict: true } });

/** The engine gives these answers one after another. */
function answers(...turns: EngineTurn[]): void {
  stack.engine.script = () => turns.shift() ?? { text: 'nothing more' };
}

const ask = async (path: string, body: object) => {
  const before = stack.engine.asked.length;
  const response = await stack.post(path, { model: engineModel, ...body });
  const text = await response.text();
  const asked = stack.engine.asked.slice(before);
  return { status: response.status, text, asked, json: () => JSON.parse(text) as Record<string, unknown> };
};
const respond = (body: object) => ask('/v1/responses', { input: 'hi', ...body });
const chat = (body: object) =>
  ask('/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }], ...body });

const lookUp = (name: string, args: string): EngineTurn => ({ calls: [{ name, arguments: args }] });

describe('an engine that does not keep to what it is asked', () => {
  it('is asked again for JSON, and told what was wrong', async () => {
    answers({ text: 'Sure: one.' }, { text: '{"n": 1}' });
    const { status, json, asked } = await respond({ text: { format } });
    expect(status).toBe(200);
    expect(json()).toMatchObject({
      status: 'completed',
      output_text: '{"n": 1}',
      usage: { input_tokens: 20 },
    });
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema, strict: true } },
    });
    expect(lastText(asked[1]!)).toMatch('is not JSON');
  });

  it.each([
    ['/v1/responses', { input: 'hi', text: { format } }],
    [
      '/v1/chat/completions',
      { messages: 'hi', response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } },
    ],
  ])('is refused in %s where the second answer is wrong too', async (path, body) => {
    answers({ text: '{"n": "one"}' }, { text: '{"n": "two"}' });
    const { status, json, asked } = await ask(path, body);
    expect(asked).toHaveLength(2);
    expect(status).toBe(502);
    const message = expect.stringMatching('"/n" must be integer') as string;
    expect(json()).toMatchObject({ error: { code: 'bad_upstream', message } });
  });

  it('ends a stream with an error', async () => {
    answers({ text: 'not json' });
    const { text, asked } = await respond({ stream: true, text: { format } });
    expect(asked).toHaveLength(1);
    expect(text).toMatch('event: response.failed');
    expect(text).not.toMatch('event: response.completed');
    answers({ text: 'not json' });
    const streamed = await chat({ stream: true, response_format: { type: 'json_object' } });
    expect(streamed.text).toMatch('is not JSON');
    expect(streamed.text).not.toMatch('"finish_reason":"stop"');
  });

  it('is asked again for the input of a custom tool that does not fit its grammar, and then refused', async () => {
    const grammar = { syntax: 'lark', definition: 'start: "+" /[a-z]+/' };
    const tools = [{ type: 'custom', name: 'patch', format: { type: 'grammar', ...grammar } }];
    const wrong = lookUp('patch', '{"input":"-a"}');
    answers(wrong, lookUp('patch', '{"input":"+a"}'));
    const { status, json, asked } = await respond({ tools });
    expect(status).toBe(200);
    expect(asked).toHaveLength(2);
    expect(lastText(asked[1]!)).toMatch('"-a" does not fit the grammar');
    expect(json()).toMatchObject({ output: [{ type: 'custom_tool_call', name: 'patch', input: '+a' }] });
    answers(wrong, wrong);
    const custom = { name: 'patch', format: { type: 'grammar', grammar } };
    const refused = await chat({ tools: [{ type: 'custom', custom }] });
    expect(refused.status).toBe(502);
    const message = expect.stringMatching('does not fit the grammar') as string;
    expect(refused.json()).toMatchObject({ error: { code: 'bad_upstream', message } });
  });

  it('is not asked for the input of a custom tool whose grammar cannot be read', async () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: missing' };
    const { status, asked, json } = await respond({ tools: [{ type: 'custom', name: 'patch', format }] });
    expect(status).toBe(400);
    expect(asked).toHaveLength(0);
    expect(json()).toMatchObject({ error: { param: 'tools[0].format.definition' } });
  });

  it('may be cut off in the middle of its JSON, which says so itself', async () => {
    answers({ text: '{"n": 1 }' });
    const { json } = await respond({ text: { format }, max_output_tokens: 1 });
    expect(json()).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  it.each<[string, object, EngineTurn, RegExp]>([
    ['an unknown tool', { tools: [strictTool('look')] }, lookUp('nope', '{"n":1}'), /called "nope"/],
    [
      'a tool outside allowed_tools',
      {
        tools: [strictTool('look'), strictTool('other')],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'look' }] },
      },
      lookUp('other', '{"n":1}'),
      /called "other"/,
    ],
    [
      'a tool despite tool_choice none',
      { tools: [strictTool('look')], tool_choice: 'none' },
      lookUp('look', '{"n":1}'),
      /may not call/,
    ],
    [
      'no tool despite tool_choice required',
      { tools: [strictTool('look')], tool_choice: 'required' },
      { text: 'No.' },
      /called no tool/,
    ],
    [
      'a strict tool with other arguments',
      { tools: [strictTool('look')] },
      lookUp('look', '{"n":"x"}'),
      /must be integer/,
    ],
  ])('is refused where it calls %s twice', async (_what, body, turn, reason) => {
    answers(turn, turn);
    const { status, json, asked } = await respond(body);
    expect(asked).toHaveLength(2);
    expect(status).toBe(502);
    expect(json()).toMatchObject({
      error: { code: 'bad_upstream', message: expect.stringMatching(reason) as string },
    });
    answers(turn, lookUp('look', '{"n":2}'));
    const second = await respond({
      ...body,
      ...('tool_choice' in body && body.tool_choice === 'none' && { tool_choice: 'auto' }),
    });
    expect(second.status).toBe(200);
  });

  it('gives one call where parallel_tool_calls is false, and {} for no arguments', async () => {
    const two: EngineTurn = {
      calls: [
        { name: 'look', arguments: '{"n":1}' },
        { name: 'look', arguments: '{"n":2}' },
      ],
    };
    answers(two);
    const { json } = await respond({ tools: [strictTool('look')], parallel_tool_calls: false });
    expect(json()['output']).toMatchObject([{ type: 'function_call', arguments: '{"n":1}' }]);
    expect(json()['output']).toHaveLength(1);
    answers(two);
    const streamed = await chat({ tools: [chatTool('look')], parallel_tool_calls: false, stream: true });
    expect(streamed.text).not.toMatch(String.raw`{\"n\":2}`);
    answers(lookUp('any', ''));
    const free = await chat({ tools: [{ type: 'function', function: { name: 'any' } }] });
    expect(free.json()).toMatchObject({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: { tool_calls: [{ function: { name: 'any', arguments: '{}' } }] },
        },
      ],
    });
  });

  it('is not asked for a schema that cannot be checked', async () => {
    const bad = { ...format, schema: { type: 'thing' } };
    const { status, asked, json } = await respond({ text: { format: bad } });
    expect(status).toBe(400);
    expect(asked).toHaveLength(0);
    expect(json()).toMatchObject({ error: { code: 'invalid_request' } });
    const tools = [{ ...strictTool('look'), parameters: { type: 'thing' } }];
    expect((await respond({ tools })).json()).toMatchObject({ error: { param: 'tools[0].parameters' } });
  });

  it('is not waited for by others while a hostile schema is checked', async () => {
    const levels = Array.from({ length: 40 }, (_unused, level) => level);
    const $defs = Object.fromEntries(
      levels.map((level) => {
        const next = { $ref: `#/$defs/d${level + 1}` };
        return [
          `d${level}`,
          level === 39 ? { type: 'string' } : { allOf: [next, { ...next, minLength: 0 }] },
        ];
      }),
    );
    stack.engine.script = () => ({ text: '"a"' });
    const slow = respond({
      text: { format: { ...format, strict: false, schema: { $defs, $ref: '#/$defs/d0' } } },
    });
    const quick = await respond({});
    expect(quick.status).toBe(200);
    expect((await slow).status).toBe(400);
    answers({ text: '{"n": 1}' });
    expect((await respond({ text: { format } })).status).toBe(200);
  });
});

describe('a mega service in front of an engine that calls tools', () => {
  const model = 'chatqna';
  const question = 'What does passage one say?';

  it('calls tools, and answers from passages and their results', async () => {
    answers(lookUp('look', '{"n":1}'));
    const tools = [strictTool('look')];
    const first = await respond({ model, input: question, tools });
    expect(first.status).toBe(200);
    expect((first.json()['output'] as object[]).slice(-1)).toMatchObject([
      { type: 'function_call', name: 'look', arguments: '{"n":1}' },
    ]);
    expect(first.asked[0]).toMatchObject({ tools: [{ function: { name: 'look' } }] });
    expect(lastText(first.asked[0]!)).toMatch('Passage 1 says 1.');
    const call = (first.json()['output'] as { call_id: string }[]).at(-1);
    const result = { type: 'function_call_output', call_id: call?.call_id, output: 'seven' };
    answers({ text: 'It says 1 [1], and seven.' });
    const next = await respond({
      model,
      input: [{ role: 'user', content: question }, call, result],
      tools,
    });
    expect(next.json()).toMatchObject({ status: 'completed', output_text: 'It says 1 [1], and seven.' });
    expect(next.asked[0]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'seven' });
    expect(lastText(next.asked[0]!)).toMatch('Passage 1 says 1.');
  });

  it('writes JSON, checked as that of the engine itself', async () => {
    const response_format = { type: 'json_schema', json_schema: { name: 'answer', schema } };
    answers({ text: 'one' }, { text: '{"n": 1}' });
    const { json, asked } = await chat({ model, messages: question, response_format });
    expect(json()).toMatchObject({ model, choices: [{ message: { content: '{"n": 1}' } }] });
    expect(asked).toHaveLength(2);
    answers({ text: 'one' }, { text: 'two' });
    const failed = await chat({ model, messages: question, response_format });
    expect(failed.status).toBe(502);
    expect(failed.asked).toHaveLength(2);
  });

  it('streams as the model writes', async () => {
    stack.engine.script = () => ({ text: 'It says one and two and three [1].', pauseMs: 100 });
    const response = await stack.post('/v1/chatqna', { messages: question });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const pieces: string[] = [];
    for (let read = await reader.read(); !read.done; read = await reader.read()) pieces.push(read.value);
    const at = (word: string) => pieces.findIndex((piece) => piece.includes(word));
    expect(at('says')).toBeGreaterThanOrEqual(0);
    expect(at('says')).toBeLessThan(at('two'));
    expect(at('two')).toBeLessThan(at('three'));
  });

  it('cites in the stream what it cites in the whole answer', async () => {
    stack.engine.script = () => ({ text: 'Passage 2 says 2 [2]. Passage 1 says 1 [1]. So it says 2 [2].' });
    interface Piece {
      annotations?: { url_citation: { filename: string } }[];
    }
    const { json } = await chat({ model, messages: question });
    const [whole] = json()['choices'] as { message: Piece }[];
    const { text } = await chat({ model, messages: question, stream: true });
    const streamed = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .flatMap(
        (frame) => (JSON.parse(frame.slice('data: '.length)) as { choices: { delta: Piece }[] }).choices,
      )
      .flatMap(({ delta }) => delta.annotations ?? []);
    const names = streamed.map(({ url_citation }) => url_citation.filename);
    expect(names.slice(0, 2)).toEqual(['file-2.md', 'file-1.md']);
    expect(streamed).toEqual(whole?.message.annotations);
  });
});
