import { parseOrThrow } from '#contracts';
import { describe, expect, it } from 'vitest';
import { inputSchema } from './input-items.js';
import { toChatMessages } from './to-chat-messages.js';

const convert = (input: unknown) => toChatMessages(parseOrThrow(inputSchema, input));
const dataUrl = (text: string, type = 'text/plain') =>
  `data:${type};base64,${Buffer.from(text).toString('base64')}`;

describe('toChatMessages', () => {
  it('joins text parts and tells tool calls as text', () => {
    expect(
      convert([
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_text', text: 'b' },
          ],
        },
        { type: 'function_call', call_id: 'c', name: 'add', arguments: '{"x":1}' },
        { type: 'function_call_output', call_id: 'c', output: '2' },
        { type: 'reasoning', summary: [] },
      ]),
    ).toEqual({
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'a\nb' },
        { role: 'assistant', content: '{"name":"add","arguments":{"x":1}}' },
        { role: 'tool', content: '2' },
      ],
      skippedTypes: ['reasoning'],
    });
  });

  it('reads text files', () => {
    const file = { type: 'input_file', filename: 'a.txt', file_data: dataUrl('Hällo') };
    expect(convert([{ role: 'user', content: [file] }]).messages[0]?.content).toBe('a.txt:\nHällo');
  });

  it.each([
    [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }, /takes text only/],
    [{ type: 'input_file', file_id: 'file_1' }, /file_data/],
    [
      { type: 'input_file', filename: 'a.pdf', file_data: dataUrl('%PDF', 'application/pdf') },
      /application\/pdf/,
    ],
    [{ type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,/w==' }, /UTF-8/],
  ])('refuses %j and says where', (part, message) => {
    expect(() => convert([{ role: 'user', content: [part] }])).toThrow(message);
    expect(() => convert([{ role: 'user', content: [part] }])).toThrow(/^input\.0\.content\.0/);
  });
});
