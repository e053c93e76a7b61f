import { parseOrThrow } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { inputFileOf, textOfTextFile } from './input-file.js';
import { assertCallsAnswered, inputSchema, withAdditionalTools } from './input-items.js';

const read = (input: unknown) => parseOrThrow(inputSchema, input);
const add = { type: 'function', name: 'add', parameters: { type: 'object' } };
const item = { type: 'additional_tools', role: 'developer' };

it('adds the tools of items, the later of one name in the place of the earlier', () => {
  const server = { type: 'mcp', server_label: 'a', server_url: 'https://a.example' };
  const items = read([
    { ...item, tools: [add, server] },
    { ...item, tools: [{ ...add, description: 'Adds.' }] },
    { role: 'user', content: 'hi' },
  ]);
  const tools = withAdditionalTools([{ type: 'custom', name: 'patch' }, server], items);
  expect(tools).toMatchObject([
    { type: 'custom', name: 'patch' },
    { type: 'mcp' },
    { name: 'add', description: 'Adds.' },
    { type: 'mcp' },
  ]);
});

it('says which tool of an item is wrong', () => {
  const wrong = [{ ...item, tools: [{ ...add, name: 'no name' }] }];
  expect(() => read(wrong)).toThrow(expect.objectContaining({ param: '[0].tools[0].name' }));
});

const call = { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', arguments: '{}' };
const output = { type: 'function_call_output', id: 'o', call_id: 'c', output: '1' };
const message = { type: 'message', id: 'm' };

describe('assertCallsAnswered', () => {
  it('accepts outputs of calls in the context and in the input', () => {
    expect(() => assertCallsAnswered([call], [output])).not.toThrow();
    expect(() => assertCallsAnswered([], [call, message, output])).not.toThrow();
    expect(() =>
      assertCallsAnswered([], [message, { type: 'local_shell_call_output', id: 'x' }]),
    ).not.toThrow();
  });

  it('names an output that answers nothing', () => {
    expect(() => assertCallsAnswered([output], [message, output])).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'input[1].call_id' }),
    );
  });
});

const base64 = Buffer.from('grüß').toString('base64');

describe('inputFileOf', () => {
  it('reads data URLs and bare base64, URLs and ids', () => {
    expect(inputFileOf({ file_data: `data:text/plain;base64,${base64}`, filename: 'a.txt' }, 'p')).toEqual({
      filename: 'a.txt',
      mimeType: 'text/plain',
      bytes: Buffer.from('grüß'),
    });
    const unnamed = { filename: 'file', mimeType: '' };
    expect(inputFileOf({ file_data: base64 }, 'p')).toMatchObject(unnamed);
    expect(inputFileOf({ file_data: base64, filename: '' }, 'p')).toMatchObject(unnamed);
    expect(inputFileOf({ file_url: 'https://a.example/x.pdf' }, 'p')).toEqual({
      url: 'https://a.example/x.pdf',
    });
    expect(inputFileOf({ file_id: 'file-1', filename: 'x' }, 'p')).toEqual({ id: 'file-1', filename: 'x' });
  });

  it.each([
    [{}, 'p'],
    [{ file_data: 'data:text/plain,hello' }, 'p.file_data'],
    [{ file_data: '{"no": "base64"}' }, 'p.file_data'],
  ])('refuses %j', (part, param) => {
    expect(() => inputFileOf(part, 'p')).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
  });

  it('refuses a long text at once', () => {
    const data = `${' '.repeat(100_000)}!`;
    const started = performance.now();
    expect(() => inputFileOf({ file_data: data }, 'p')).toThrow('is not base64');
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('textOfTextFile', () => {
  const bytes = Buffer.from('grüß');

  it.each([
    ['a.md', '', 'grüß'],
    ['a', 'text/plain', 'grüß'],
    ['a.json', 'application/octet-stream', 'grüß'],
    ['a.pdf', 'application/pdf', undefined],
    ['a.html', 'text/html', undefined],
    ['a.txt', 'application/pdf', undefined],
  ])('%s of type %j', (filename, mimeType, text) => {
    expect(textOfTextFile({ filename, mimeType, bytes })).toBe(text);
  });

  it('takes nothing for text that is none', () => {
    const broken = { filename: 'a.txt', mimeType: 'text/plain', bytes: Buffer.of(0xff, 0xfe, 0x00) };
    expect(textOfTextFile(broken)).toBeUndefined();
  });
});
