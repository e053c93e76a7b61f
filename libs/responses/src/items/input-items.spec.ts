import { parseOrThrow } from '#contracts';
import { describe, expect, it } from 'vitest';
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
