import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '#platform/foundation';
import { TextTokenizer } from '#engine/models';
import { promptIds, promptLength, tokensBeyond } from './prompt-ids.js';

describe('tokensBeyond', () => {
  let tokenizer: TextTokenizer;
  beforeAll(async () => {
    tokenizer = await TextTokenizer.load(path.join(projectRoot, 'models', 'nano-chat'));
  });
  const messages = (content: string) => [{ role: 'user' as const, content }];
  /** Letters that no token has many of. */
  const letters = (count: number) =>
    Array.from({ length: count }, (_unused, index) => 'qxzjvkw'[(index * index * 31 + index) % 7]).join('');

  it('finds a prompt too long without reading all of it', () => {
    const startedAt = performance.now();
    expect(tokensBeyond(tokenizer, messages(letters(1_000_000)), undefined, 2048)).toBeGreaterThan(100_000);
    // To tokenize all of it takes twenty seconds.
    expect(performance.now() - startedAt).toBeLessThan(4000);
  });

  it('lets pass what may fit', () => {
    const text = 'The quick brown fox. '.repeat(1500);
    const { length } = promptIds(tokenizer, messages(text));
    expect(tokensBeyond(tokenizer, messages(text), undefined, length)).toBeUndefined();
    const about = tokensBeyond(tokenizer, messages(text), undefined, 2048);
    expect(about).toBeGreaterThan(length * 0.9);
    expect(about).toBeLessThan(length * 1.1);
  });
});

describe('promptLength', () => {
  const text = 'x'.repeat(20_000);
  const user = { role: 'user' as const, content: 'hi' };
  const call = { id: 'c', name: 'f', input: text };

  it.each([
    ['what somebody said', [{ ...user, content: text }], {}],
    ['thoughts', [{ ...user, role: 'assistant' as const, reasoning: text }], {}],
    ['calls of tools', [{ ...user, role: 'assistant' as const, toolCalls: [call] }], {}],
    ['descriptions of tools', [user], { tools: [{ function: { name: 'f', description: text } }] }],
  ])('counts %s, which the template writes', (_what, messages, kwargs) => {
    expect(promptLength(messages, kwargs)).toBeGreaterThan(20_000);
  });
});
