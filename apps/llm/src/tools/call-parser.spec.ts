import type { Tool, ToolCallDelta } from '#platform/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newCallReader } from './plan-calls.js';
import { callClosing, callOpening, detectToolFormat, type ToolFormat } from './tool-format.js';

const tools = new Map<string, Tool>(
  [
    { type: 'function' as const, name: 'add' },
    { type: 'function' as const, name: 'say "hi"' },
    { type: 'custom' as const, name: 'patch' },
  ].map((tool) => [tool.name, tool]),
);

const formats: ToolFormat[] = [
  detectToolFormat('{{ tools }} <tool_call>'),
  detectToolFormat('no tools'),
  detectToolFormat('"parameters": python_tag'),
  detectToolFormat('[AVAILABLE_TOOLS] [TOOL_CALLS] ['),
];

interface Read {
  text: string;
  calls: { id: string; name: string; kind?: string; input: string }[];
}

/** Reads an answer that comes in these pieces. */
function read(format: ToolFormat, pieces: readonly string[], marks?: { open: string; close: string }): Read {
  let ids = 0;
  const newCallId = () => `call_${(ids += 1)}`;
  const parser = newCallReader({ format, tools, newCallId, ...(marks && { marks }) });
  const result: Read = { text: '', calls: [] };
  const add = ({ index, id, name, kind, input }: ToolCallDelta) => {
    const call = (result.calls[index] ??= { id: id ?? '', name: name ?? '', kind, input: '' });
    call.input += input;
  };
  for (const parsed of [...pieces.map((piece) => parser.push(piece)), parser.end()]) {
    result.text += parsed.text;
    parsed.toolCalls.forEach(add);
  }
  return result;
}

/** The text cut at random places. */
function cut(text: string, places: readonly number[]): string[] {
  const borders = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...borders, text.length].map((border, index) => text.slice(borders[index - 1] ?? 0, border));
}

const places = fc.array(fc.nat(), { maxLength: 40 });
const call = fc.oneof(
  fc.record({ name: fc.constantFrom('add', 'say "hi"'), value: fc.object({ maxDepth: 2 }) }),
  fc.record({ name: fc.constant('patch'), value: fc.record({ input: fc.string({ unit: 'grapheme' }) }) }),
);
/** Free text that begins no call; without space at its ends, which belongs to nobody beside a call. */
const words = fc
  .string()
  .map((text) => text.replaceAll(/[<{[]/g, '').trim())
  .filter((text) => text !== '');

describe('CallParser', () => {
  it.each(formats)('reads $name calls whatever the pieces', (format) => {
    expect.hasAssertions();
    fc.assert(
      fc.property(fc.option(words), fc.array(call, { maxLength: 3 }), places, (before, calls, borders) => {
        const written = calls.map(
          ({ name, value }) => callOpening(format, name) + JSON.stringify(value) + callClosing(format),
        );
        const text = [before ?? '', ...written].filter((each) => each !== '').join('\n');
        const found = read(format, cut(text, borders));
        expect(found.text).toBe(before ?? '');
        expect(found.calls).toEqual(
          calls.map(({ name, value }, index) => ({
            id: `call_${index + 1}`,
            name,
            kind: name === 'patch' ? 'custom' : 'function',
            input: name === 'patch' ? value.input : JSON.stringify(value),
          })),
        );
      }),
    );
  });

  it.each(formats)('lets through all of a $name answer without calls', (format) => {
    expect.hasAssertions();
    fc.assert(
      fc.property(fc.string(), places, (text, borders) => {
        expect(read(format, cut(text, borders))).toEqual({ text, calls: [] });
      }),
    );
  });

  const plain = detectToolFormat('');

  it.each([
    '<tool_call>not JSON</tool_call>',
    '<tool_call>{"name": "unknown", "arguments": {}}</tool_call>',
    '<tool_call>{"name": 5}</tool_call>',
    '<tool_call>{"name": "add", ',
    'a < b <tool',
  ])('tells %j as the text that it is', (text) => {
    expect(read(plain, Array.from(text))).toEqual({ text, calls: [] });
  });

  it('takes the arguments before the name, and other spaces than the format has', () => {
    const text = '<tool_call>\n {"arguments" : {"a":1}, "name":"add"}\n</tool_call>\n';
    expect(read(plain, Array.from(text)).calls).toEqual([
      { id: 'call_1', name: 'add', kind: 'function', input: '{"a":1}' },
    ]);
  });

  it('gives arguments as they are written, and what there is of a call that is cut off', () => {
    const parser = newCallReader({ format: plain, tools, newCallId: () => 'c' });
    parser.push('<tool_call>{"name": "add", "arguments": {"a"');
    expect(parser.push(': 1').toolCalls).toEqual([{ index: 0, input: ': 1' }]);
    expect(parser.end()).toEqual({ text: '', toolCalls: [] });
    expect(parser.calls).toBe(1);
  });

  it('goes on with text behind a call', () => {
    const text = 'First.\n<tool_call>{"name": "add", "arguments": {}}</tool_call>\nThen.';
    expect(read(plain, Array.from(text))).toMatchObject({ text: 'First.Then.', calls: [{ name: 'add' }] });
  });

  it('takes the marks off an answer', () => {
    const marks = { open: '<answer>', close: '</answer>' };
    expect(read(plain, Array.from('<answer>{"a": 1}</answer>'), marks)).toEqual({
      text: '{"a": 1}',
      calls: [],
    });
  });

  const mistral = detectToolFormat('[AVAILABLE_TOOLS] [TOOL_CALLS] [');
  const mistralArgs = detectToolFormat('[AVAILABLE_TOOLS] [TOOL_CALLS]name[ARGS]');

  it('reads the lists of calls of Mistral, with ids and without', () => {
    const text =
      'Well. [TOOL_CALLS] [{"name": "add", "arguments": {"a": [1]}, "id": "abcdefghi"}, {"name": "add", "arguments": {}}] Done.';
    for (const pieces of [[text], Array.from(text)])
      expect(read(mistral, pieces)).toMatchObject({
        text: 'Well.Done.',
        calls: [{ input: '{"a": [1]}' }, { input: '{}' }],
      });
  });

  it('reads calls of Mistral with the name in front', () => {
    const text = '[TOOL_CALLS]add[ARGS]{"a":1}[TOOL_CALLS]patch[CALL_ID]abc[ARGS]{"input":"+ x"}';
    for (const pieces of [[text], Array.from(text)])
      expect(read(mistralArgs, pieces).calls).toMatchObject([
        { name: 'add', input: '{"a":1}' },
        { name: 'patch', kind: 'custom', input: '+ x' },
      ]);
    const other = '[TOOL_CALLS]fly[ARGS]{}';
    expect(read(mistralArgs, Array.from(other))).toEqual({ text: other, calls: [] });
  });

  it('finds the JSON of a custom tool that names its input otherwise', () => {
    const text = '<tool_call>{"name": "patch", "arguments": {"diff": "+ a"}}</tool_call>';
    expect(read(plain, [text]).calls[0]?.input).toBe('+ a');
  });
});
