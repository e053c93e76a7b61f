import type { ChatMessage } from '#contracts';
import type { RpcClient } from '#messaging';
import { describe, expect, it } from 'vitest';
import { ContextWindow } from './context-window.js';

const limit = 100;

/** A model where a character is a token. */
const client = {
  request: (_method: unknown, { messages }: { messages: ChatMessage[] }) =>
    Promise.resolve({
      promptTokens: messages.reduce((sum, { content }) => sum + content.length, 0),
      maxInputTokens: limit,
    }),
} as unknown as RpcClient;
const window = new ContextWindow(client);

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
});
