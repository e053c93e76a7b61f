import type { GenerationEvent } from '#engine/generation';
import { describe, expect, it } from 'vitest';
import { answerAfterReasoning } from './spent-on-reasoning.js';

const usage = { promptTokens: 5, completionTokens: 9, cachedTokens: 0 };
const end = (finishReason: GenerationEvent['finishReason'], more: Partial<GenerationEvent> = {}) => ({
  choice: 0,
  text: '',
  tokenIds: [],
  finishReason,
  usage,
  ...more,
});
const thought: GenerationEvent = { choice: 0, text: '', tokenIds: [], reasoning: 'Hm [1].' };
const said: GenerationEvent = { choice: 0, text: 'Two.', tokenIds: [] };

async function* answer(...events: GenerationEvent[]): AsyncGenerator<GenerationEvent> {
  await Promise.resolve();
  yield* events;
}

async function read(first: GenerationEvent[], again?: GenerationEvent[], limit?: number) {
  const askAgain = again && (() => Promise.resolve(answer(...again)));
  const events: GenerationEvent[] = [];
  for await (const event of answerAfterReasoning(answer(...first), { askAgain, limit })) events.push(event);
  return {
    text: events.map(({ text }) => text).join(''),
    reasoning: events.map(({ reasoning = '' }) => reasoning).join(''),
    last: events.at(-1),
  };
}

describe('answerAfterReasoning', () => {
  it('leaves other answers as they are', async () => {
    expect(await read([thought, said, end('length')])).toMatchObject({ text: 'Two.', last: { usage } });
    expect((await read([end('length')])).text).toBe('');
    expect((await read([thought, end('content_filter')])).last?.finishReason).toBe('content_filter');
  });

  it.each([
    ['that was shown', [thought, end('length')]],
    ['that was only counted', [end('length', { usage: { ...usage, reasoningTokens: 9 } })]],
    ['that ended by itself', [thought, end('stop')]],
  ])('asks once more without reasoning %s, and adds the usage', async (_name, first) => {
    const { text, last } = await read(first, [said, end('stop')]);
    expect(text).toBe('Two.');
    expect(last).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 10, completionTokens: 18 } });
  });

  it('is an error if the text is missing again', async () => {
    const spent = [thought, end('length')];
    await expect(read(spent, spent, 40)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'max_tokens',
      message: expect.stringContaining('40') as string,
    });
    await expect(read(spent, spent)).rejects.toMatchObject({ code: 'bad_upstream', final: true });
    await expect(read([thought, end('stop')])).rejects.toThrow('only reasoning');
  });

  it('keeps several answers of which one has a text', async () => {
    const { usage: _later, ...spent } = end('length');
    const other = { choice: 1, text: 'Three.', tokenIds: [], finishReason: 'stop' as const, usage };
    expect(await read([thought, spent, other])).toMatchObject({ text: 'Three.', last: { usage } });
  });
});
