import type { Tool, ToolCallDelta } from '#platform/contracts';
import type { GenerationEvent } from '#engine/generation';
import { describe, expect, it } from 'vitest';
import { checksHere } from '../forms/form-checks.fixture.js';
import { readNativeCalls, type AnswerTerms } from './native-calls.js';

const parameters = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
const add: Tool = { type: 'function', name: 'add', parameters, strict: true };
const look: Tool = { type: 'function', name: 'look', parameters };
const patch: Tool = { type: 'custom', name: 'patch' };

const call = (index: number, more: Partial<ToolCallDelta>): Partial<GenerationEvent> => ({
  toolCalls: [{ index, input: '', ...more }],
});

async function read(given: Partial<GenerationEvent>[], terms: Partial<AnswerTerms> = {}) {
  const tools = terms.tools ?? [add, look, patch];
  async function* events(): AsyncGenerator<GenerationEvent> {
    await Promise.resolve();
    for (const [index, event] of given.entries())
      yield {
        choice: 0,
        text: '',
        tokenIds: [],
        ...(index === given.length - 1 && { finishReason: 'stop' }),
        ...event,
      };
  }
  const ids = ['first', 'second', 'third'];
  const options = {
    terms: { required: false, single: false, ...terms, tools },
    given: tools,
    forms: checksHere,
    newCallId: () => ids.shift()!,
  };
  const seen: GenerationEvent[] = [];
  for await (const event of readNativeCalls(events(), options)) seen.push(event);
  const calls: { id: string; name: string; input: string }[] = [];
  for (const { index, id = '', name = '', input } of seen.flatMap(({ toolCalls = [] }) => toolCalls)) {
    calls[index] ??= { id, name, input: '' };
    calls[index].input += input;
  }
  return { calls, finish: seen.at(-1)?.finishReason, text: seen.map(({ text }) => text).join('') };
}

describe('readNativeCalls', () => {
  it('reads a name that comes in pieces', async () => {
    const { calls } = await read([
      call(0, { id: 'x', name: 'lo' }),
      call(1, { id: 'y', name: 'a' }),
      call(0, { name: 'ok' }),
      call(1, { name: 'dd', input: '{"a":1}' }),
      call(0, { input: '{}' }),
    ]);
    expect(calls).toEqual(
      expect.arrayContaining([
        { id: 'x', name: 'look', input: '{}' },
        { id: 'y', name: 'add', input: '{"a":1}' },
      ]),
    );
  });

  it('refuses a name that stays a beginning', async () => {
    await expect(read([call(0, { id: 'x', name: 'lo' }), {}])).rejects.toThrow(
      /called "lo", which is not among/,
    );
  });

  it('reads pieces of calls beside each other, and ends an answer with calls as one', async () => {
    const { calls, finish } = await read([
      call(0, { id: 'x', name: 'add', input: '{"a":' }),
      call(1, { id: 'y', name: 'look' }),
      call(0, { input: '1}' }),
      call(1, { input: '{}' }),
    ]);
    expect(calls).toEqual([
      { id: 'x', name: 'add', input: '{"a":1}' },
      { id: 'y', name: 'look', input: '{}' },
    ]);
    expect(finish).toBe('tool_calls');
  });

  it('takes calls apart that have the same place, and a call whose name comes again together', async () => {
    const { calls } = await read([
      call(0, { name: 'look', input: '{"a":' }),
      call(0, { name: 'look', input: '1}' }),
      call(0, { name: 'look', input: '{}' }),
      call(0, { id: 'x', name: 'add', input: '{"a":3}' }),
    ]);
    expect(calls).toEqual([
      { id: 'first', name: 'look', input: '{"a":1}' },
      { id: 'second', name: 'look', input: '{}' },
      { id: 'x', name: 'add', input: '{"a":3}' },
    ]);
  });

  it('gives an id of its own to a call with the id of another', async () => {
    const { calls } = await read([
      call(0, { id: 'x', name: 'look', input: '{}' }),
      call(1, { id: 'x', name: 'look', input: '{}' }),
    ]);
    expect(calls.map(({ id }) => id)).toEqual(['x', 'first']);
  });

  it('writes {} for arguments that are empty', async () => {
    expect((await read([call(0, { name: 'look' }), {}])).calls).toMatchObject([{ input: '{}' }]);
  });

  it('leaves out all calls but the first where one is allowed', async () => {
    const { calls } = await read(
      [
        call(0, { name: 'look', input: '{}' }),
        call(1, { name: 'add', input: 'no' }),
        call(1, { input: '!' }),
      ],
      { single: true },
    );
    expect(calls).toMatchObject([{ name: 'look', input: '{}' }]);
  });

  it('tells the input of a custom tool, whatever the engine wraps it in', async () => {
    const custom = (input: string) => read([call(0, { name: 'patch', input }), {}]);
    expect((await custom('{"input":"+a"}')).calls).toMatchObject([{ input: '+a' }]);
    expect((await custom('+a')).calls).toMatchObject([{ input: '+a' }]);
  });

  it('checks the input of a custom tool by its grammar', async () => {
    const lark: Tool = { ...patch, grammar: { syntax: 'lark', definition: 'start: "+" /[a-z]+/' } };
    const regex: Tool = { ...patch, grammar: { syntax: 'regex', definition: String.raw`^\d{2}$` } };
    const custom = (tool: Tool, ...inputs: string[]) =>
      read([call(0, { name: 'patch' }), ...inputs.map((input) => call(0, { input })), {}], { tools: [tool] });
    expect((await custom(lark, '{"input":"+a', 'b"}')).calls).toMatchObject([{ input: '+ab' }]);
    expect((await custom(lark, '+ab')).calls).toMatchObject([{ input: '+ab' }]);
    expect((await custom(regex, '{"input":"12"}')).calls).toMatchObject([{ input: '12' }]);
    const message = /called patch with an input that is wrong: "-a" does not fit the grammar/;
    await expect(custom(lark, '{"input":"-a"}')).rejects.toThrow(message);
    await expect(custom(regex, '{"input":"123"}')).rejects.toThrow(/does not fit the regular expression/);
  });

  it('names the tool whose grammar cannot be read', async () => {
    const at = 'tools[1].grammar.definition';
    const bad: Tool = { ...patch, grammar: { syntax: 'lark', definition: 'start: missing' }, at };
    await expect(read([{}], { tools: [add, bad] })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'tools[1].grammar.definition',
    });
  });

  it.each<[string, Partial<GenerationEvent>[], Partial<AnswerTerms>, RegExp]>([
    ['an unknown tool', [call(0, { name: 'fly' })], {}, /called "fly", which is not among/],
    [
      'a tool that is not allowed',
      [call(0, { name: 'look' })],
      { tools: [add] },
      /called "look", which is not/,
    ],
    ['a tool where none may be called', [call(0, { name: 'add' })], { tools: [] }, /which it may not call/],
    ['nothing where it must', [{ text: 'No.' }], { required: true }, /called no tool/],
    ['a call without a name', [call(0, { input: '{}' })], {}, /without the name/],
    ['with what is not JSON', [call(0, { name: 'look', input: '{"a' })], {}, /look with .* is not JSON/],
    ['with another type', [call(0, { name: 'look', input: '"x"' })], {}, /not a JSON object/],
    ['a strict function wrongly', [call(0, { name: 'add', input: '{"a":"b"}' })], {}, /"\/a" must be number/],
    ['a strict function with nothing', [call(0, { name: 'add' })], {}, /required property 'a'/],
    ['in no JSON', [{ text: 'Rome.' }], { form: { type: 'json_object' } }, /"Rome." is not JSON/],
  ])('fails where an engine calls or answers %s', async (_what, events, terms, reason) => {
    await expect(read(events, terms)).rejects.toThrow(reason);
  });

  it('puts a bare value into the only field of a function', async () => {
    const { calls } = await read([call(0, { name: 'add', input: '1' }), call(0, { input: '2' }), {}]);
    expect(calls).toMatchObject([{ name: 'add', input: '{"a":12}' }]);
  });

  it('takes an answer that is cut off, refused, or a call, in any form', async () => {
    const form = { type: 'json_object' as const };
    expect((await read([{ text: '{"a', finishReason: 'length' }], { form })).text).toBe('{"a');
    expect((await read([{ text: 'No.', refusal: true }], { form })).text).toBe('No.');
    expect((await read([{ text: 'I add.' }, call(0, { name: 'look' })], { form })).calls).toHaveLength(1);
    expect((await read([{ text: '{"a":1}' }], { form })).text).toBe('{"a":1}');
  });

  it('names the tool whose schema cannot be checked', async () => {
    const at = 'tools[1].parameters';
    const bad: Tool = { type: 'function', name: 'bad', parameters: { type: 'thing' }, strict: true, at };
    const message = expect.stringMatching(/^tools\[1\]\.parameters: /) as string;
    await expect(read([{}], { tools: [add, bad] })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'tools[1].parameters',
      message,
    });
  });
});
