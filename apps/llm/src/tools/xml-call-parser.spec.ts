import type { Tool } from '#platform/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newCallReader } from './plan-calls.js';
import { callClosing, callOpening, detectToolFormat } from './tool-format.js';

const properties = { path: { type: 'string' }, count: { type: 'integer' }, tags: { type: 'array' } };
const write: Tool = { type: 'function', name: 'write', parameters: { type: 'object', properties } };
const patch: Tool = { type: 'custom', name: 'patch' };
const tools = new Map([write, patch].map((tool) => [tool.name, tool]));
const format = detectToolFormat('<tool_call> <function=name>');

function read(pieces: readonly string[]) {
  const parser = newCallReader({ format, tools, newCallId: () => 'call' });
  const parsed = [...pieces.map((piece) => parser.push(piece)), parser.end()];
  const calls: { name: string; input: string }[] = [];
  for (const { index, name, input } of parsed.flatMap(({ toolCalls }) => toolCalls)) {
    const call = (calls[index] ??= { name: name ?? '', input: '' });
    call.input += input;
  }
  return { text: parsed.map(({ text }) => text).join(''), calls };
}

const parameter = (name: string, value: string) => `<parameter=${name}>\n${value}\n</parameter>\n`;
const call = (name: string, ...parameters: string[]) =>
  callOpening(format, name) + parameters.join('') + callClosing(format);

describe('XmlCallParser', () => {
  const value = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('<', '‹'));

  it('reads parameters whatever the pieces', () => {
    expect.hasAssertions();
    fc.assert(
      fc.property(value, fc.nat(), fc.array(fc.string()), fc.nat({ max: 9 }), (path, count, tags, size) => {
        const text = `Now.\n${call('write', parameter('path', path), parameter('count', String(count)), parameter('tags', JSON.stringify(tags)))}`;
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${size + 1}}`, 'g')) ?? [];
        const found = read(pieces);
        expect(found.text).toBe('Now.');
        expect(JSON.parse(found.calls[0]?.input ?? '')).toEqual({ path, count, tags });
      }),
    );
  });

  it('lets through all of an answer without calls', () => {
    expect.hasAssertions();
    const piece = fc.constantFrom('<tool_call>', '<function=', 'fly>', ' a', '\n', '<', '</function>', 'x');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(read(pieces)).toEqual({ text: pieces.join(''), calls: [] });
      }),
    );
  });

  it('reads several calls, calls without parameters or marks, and ends that are missing', () => {
    const text = `${call('write')}\n${call('write', '<parameter=count>\n1\n<parameter=path>\na<b\n')}<function=write>\n</function> Then.`;
    for (const pieces of [[text], Array.from(text)])
      expect(read(pieces)).toEqual({
        text: 'Then.',
        calls: ['{}', '{"count": 1, "path": "a<b"}', '{}'].map((input) => ({ name: 'write', input })),
      });
  });

  it('gives a custom tool its input raw', () => {
    const input = '*** Begin\n+</function>\n"quoted"';
    expect(read(Array.from(call('patch', parameter('input', input)))).calls).toEqual([
      { name: 'patch', input },
    ]);
    expect(read([call('patch', input.replace('</function>', ''))]).calls).toEqual([
      { name: 'patch', input: '*** Begin\n+\n"quoted"' },
    ]);
  });
});
