import type { ChatMessage, ModelInfo } from '#platform/contracts';
import type { RpcClient } from '#platform/messaging';
import { describe, expect, it } from 'vitest';
import { ContextWindow } from './context-window.js';

const limit = 100;

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

/** A model where a character is a token, and an image in the store 50. */
const client = {
  request: (_method: unknown, { messages }: { messages: ChatMessage[] }) =>
    Promise.resolve({
      promptTokens: sum(
        messages.map(
          ({ content, images = [] }) => content.length + 50 * images.filter(({ file }) => file).length,
        ),
      ),
      maxInputTokens: limit,
    }),
} as unknown as RpcClient;
const file = { objectId: 'o', filename: 'image', mimeType: 'image/png', bytes: 1 };
const store = {
  lendFor: <Result>(
    messages: readonly ChatMessage[],
    _call: unknown,
    work: (lent: ChatMessage[]) => Promise<Result>,
  ) =>
    work(
      messages.map(({ images, ...rest }) =>
        images ? { ...rest, images: images.map(() => ({ file })) } : rest,
      ),
    ),
};
const windowOf = (modalities: ModelInfo['modalities']) =>
  new ContextWindow(client, { llm: () => Promise.resolve({ modalities } as ModelInfo) }, store);
const window = windowOf(['text']);

const user = (length: number): ChatMessage => ({ role: 'user', content: 'u'.repeat(length) });
const assistant = (length: number): ChatMessage => ({ role: 'assistant', content: 'a'.repeat(length) });
const system: ChatMessage = { role: 'system', content: 'be brief' };

describe('ContextWindow', () => {
  it('leaves what fits', async () => {
    const messages = [system, user(20), assistant(20), user(20)];
    expect(await window.fit(messages, 'auto', undefined, {})).toBe(messages);
    expect(await window.fit([user(limit)], 'disabled', undefined, {})).toHaveLength(1);
  });

  it('drops as few of the oldest turns as it can, with their answers, and keeps instructions', async () => {
    const turns = [user(30), assistant(5), user(29), assistant(6), user(28), assistant(7), user(10)];
    const fitted = await window.fit([system, ...turns], 'auto', undefined, {});
    expect(fitted).toEqual([system, ...turns.slice(4)]);
    const short = await window.fit([system, ...turns], 'auto', 1, {});
    expect(short).toEqual([system, ...turns.slice(2)]);
  });

  it('refuses what is too long unasked, or even without earlier turns', async () => {
    const refusal = { code: 'context_length_exceeded', param: 'input' };
    await expect(window.fit([user(60), user(60)], 'disabled', undefined, {})).rejects.toMatchObject(refusal);
    await expect(window.fit([user(60), user(90)], 'auto', undefined, {})).rejects.toMatchObject(refusal);
    await expect(window.fit([user(101)], 'auto', undefined, {})).rejects.toMatchObject(refusal);
  });

  it('counts images where the model reads images', async () => {
    const shown: ChatMessage = { ...user(10), images: [{ url: 'data:image/png;base64,AAAA' }] };
    const turns = [shown, assistant(5), shown, assistant(5), user(10)];
    const seeing = windowOf(['text', 'image']);
    expect([await window.count(turns, {}), await seeing.count(turns, {})]).toEqual([40, 140]);
    expect(await window.fit(turns, 'auto', 1, {})).toBe(turns);
    expect(await seeing.fit(turns, 'auto', 1, {})).toEqual(turns.slice(2));
  });
});
