import { parseOrThrow } from '#contracts';
import { describe, expect, it } from 'vitest';
import { chatCompletionRequestSchema, ignoredFields } from './chat-request.js';

const messages = [{ role: 'user', content: 'Hi' }];
const parse = (body: unknown) => parseOrThrow(chatCompletionRequestSchema, body);

describe('chatCompletionRequestSchema', () => {
  it('takes messages as an array, as a string, and under the name of the OPEA specification', () => {
    for (const body of [{ messages }, { messages: 'Hi' }, { message: messages }, { message: 'Hi' }]) {
      expect(parse(body).messages).toEqual([{ role: 'user', content: 'Hi' }]);
    }
  });

  it('joins text parts', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    expect(parse({ messages: [{ role: 'user', content }] }).messages[0]?.content).toBe('one\ntwo');
  });

  it('keeps explicit zeros and false, and takes null as unset', () => {
    const { parameters } = parse({
      messages,
      temperature: 0,
      top_k: 0,
      logprobs: false,
      seed: null,
      stop: null,
    });
    expect(parameters).toEqual({ temperature: 0, top_k: 0, logprobs: false });
  });

  it('prefers max_completion_tokens', () => {
    expect(parse({ messages, max_tokens: 5, max_completion_tokens: 7 }).parameters.max_tokens).toBe(7);
  });

  it.each([
    [{}, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'king', content: 'x' }] }, 'messages.0.role'],
    [{ messages, temperature: 3 }, 'temperature'],
    [{ messages, n: 0 }, 'n'],
    [{ messages, logit_bias: { abc: 1 } }, 'logit_bias.abc'],
    [{ messages, stream_options: { include_usage: 'yes' } }, 'stream_options.include_usage'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
      'messages.0.content.0',
    ],
  ])('names the field that is wrong: %j', (body, param) => {
    expect(() => parse(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });
});

describe('ignoredFields', () => {
  it('lists what has no effect', () => {
    expect(ignoredFields({ user: 'me', store: false, k: 3 }, new Set(['k']))).toEqual(['user', 'store']);
  });

  it.each([
    { tools: [{ type: 'function' }] },
    { response_format: { type: 'json_object' } },
    { tool_choice: 'required' },
    { modalities: ['text', 'audio'] },
  ])('refuses what would change the answer: %j', (extra) => {
    expect(() => ignoredFields(extra)).toThrow(expect.objectContaining({ param: Object.keys(extra)[0] }));
  });

  it.each([
    { tools: [] },
    { response_format: { type: 'text' } },
    { tool_choice: 'none' },
    { modalities: ['text'] },
  ])('accepts what asks for nothing: %j', (extra) => {
    expect(ignoredFields(extra)).toEqual(Object.keys(extra));
  });
});
