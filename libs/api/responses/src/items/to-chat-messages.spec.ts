import { AttachedFileMark, parseOrThrow } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { describeImage, toChatMessages } from './to-chat-messages.js';
import { inputSchema } from './input-items.js';

const convert = (input: unknown) => toChatMessages(parseOrThrow(inputSchema, input));

describe('toChatMessages', () => {
  it('joins text parts, and makes turns of calls and their outputs', () => {
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
        { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'add', input: '{"x":1}' }] },
        { role: 'tool', content: '2', toolCallId: 'c' },
      ],
      skippedTypes: ['reasoning'],
    });
  });

  it('makes one turn of a thought, a text and the calls that follow', () => {
    const { messages } = convert([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'a', name: 'read', namespace: 'files', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: '+ a' },
      { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'done' }] },
    ]);
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        reasoning: 'Hm.',
        toolCalls: [
          { id: 'a', name: 'files__read', input: '{}' },
          { id: 'b', name: 'patch', input: '+ a' },
        ],
      },
      { role: 'tool', content: 'done', toolCallId: 'b' },
    ]);
  });

  it('gives images of users and tools to a model that takes them', () => {
    const image = { type: 'input_image', image_url: 'https://a.example/cat.png', detail: 'low' };
    const content = [{ type: 'input_text', text: 'What?' }, image];
    const items = inputSchema.parse([{ role: 'user', content }]);
    expect(toChatMessages(items, { images: 'take' }).messages).toEqual([
      {
        role: 'user',
        content: 'What?',
        images: [{ url: image.image_url, detail: 'low', param: 'input[0].content[1]', at: 5 }],
      },
    ]);
    const read = (given: unknown) => toChatMessages(inputSchema.parse(given), { images: 'take' });
    expect(() => read([{ role: 'system', content }])).toThrow(
      /^input\[0\]\.content\[1\].*belong in the turns of the user/,
    );
    const output = { type: 'function_call_output', call_id: 'a', output: [image] };
    expect(read([output]).messages).toEqual([
      {
        role: 'tool',
        content: '',
        toolCallId: 'a',
        images: [{ url: image.image_url, detail: 'low', param: 'input[0].output[0]', at: 0 }],
      },
    ]);
    const nowhere = { role: 'user', content: [{ type: 'input_image' }] };
    expect(() => read([nowhere])).toThrow(/needs image_url or file_id/);
  });

  it('reads the output of a tool that no call was made of, as Codex sends it for its goals', () => {
    const output = {
      type: 'function_call_output',
      name: 'goal_objective',
      namespace: 'agent',
      output: 'Win.',
    };
    expect(convert([output]).messages).toEqual([{ role: 'user', content: '[agent__goal_objective]\nWin.' }]);
    const nameless = { type: 'function_call_output', output: 'Win.' };
    expect(() => convert([nameless])).toThrow('call_id: is required');
  });

  it('knows which part of a turn is a file, by the mark of the gateway alone', () => {
    const convertWith = (attached: object) => {
      const content = [
        { type: 'input_text', text: 'Read.' },
        { type: 'input_text', text: 'a.txt:\nOne.', attached },
      ];
      return convert([{ role: 'user', content }]).messages[0];
    };
    const file = { filename: 'a.txt', id: 'file-1' };
    expect(convertWith(new AttachedFileMark(file))).toEqual({
      role: 'user',
      content: 'Read.\na.txt:\nOne.',
      files: [{ ...file, at: 6, length: 11 }],
    });
    expect(convertWith(file)).toEqual({ role: 'user', content: 'Read.\na.txt:\nOne.' });
  });

  it('takes items of additional tools for no turns, and names none of them as ignored', () => {
    const tools = [{ type: 'function', name: 'add' }];
    const items = [
      { type: 'additional_tools', role: 'developer', tools },
      { role: 'user', content: 'a' },
    ];
    expect(convert(items)).toEqual({ messages: [{ role: 'user', content: 'a' }], skippedTypes: [] });
  });

  it('tells a model that reads text of an image in the output of a tool', () => {
    const output = [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }];
    const { messages } = convert([{ type: 'function_call_output', call_id: 'a', output }]);
    expect(messages).toEqual([{ role: 'tool', content: '[image: image/png, 1 bytes]', toolCallId: 'a' }]);
  });

  it.each([
    [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }, /text only/],
    [{ type: 'input_audio', data: 'AA==' }, /"input_audio" is not supported here: parts may be input_text/],
  ])('refuses %j and says where', (part, message) => {
    expect(() => convert([{ role: 'user', content: [part] }])).toThrow(message);
    expect(() => convert([{ role: 'user', content: [part] }])).toThrow(/^input\[0\]\.content\[0\]/);
  });
});

it.each([
  [
    { image_url: `data:image/png;base64,${Buffer.alloc(470).toString('base64')}` },
    '[image: image/png, 470 bytes]',
  ],
  [{ image_url: 'https://a.example/cat.png' }, '[image: https://a.example/cat.png]'],
  [{ file_id: 'file-1' }, '[image: file-1]'],
  [{}, '[image: without content]'],
])('describeImage of %j', (part, text) => {
  expect(describeImage(part)).toBe(text);
});
