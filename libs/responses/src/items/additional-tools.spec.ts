import { parseOrThrow } from '#contracts';
import { expect, it } from 'vitest';
import { withAdditionalTools } from './additional-tools.js';
import { inputSchema } from './input-items.js';

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
