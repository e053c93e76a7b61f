import type { ChatMessage } from '#platform/contracts';
import type { GenerationEvent } from '#engine/generation';
import { describe, expect, it } from 'vitest';
import { askAgain, BrokenFormError } from './ask-again.js';

const usage = { promptTokens: 5, completionTokens: 2, cachedTokens: 1 };
const say = (text: string): GenerationEvent => ({ choice: 0, text, tokenIds: [] });

/** Each attempt says its texts; the last may be an error. */
async function ask(attempts: (string | Error)[][], whole: boolean) {
  const corrections: (ChatMessage | undefined)[] = [];
  async function* attempt(correction?: ChatMessage): AsyncGenerator<GenerationEvent> {
    corrections.push(correction);
    await Promise.resolve();
    for (const piece of attempts.shift() ?? []) {
      if (typeof piece !== 'string') throw piece;
      yield say(piece);
    }
    yield { ...say(''), finishReason: 'stop', usage };
  }
  const events: GenerationEvent[] = [];
  let failure: unknown;
  try {
    for await (const event of askAgain(attempt, whole)) events.push(event);
  } catch (error) {
    failure = error;
  }
  return { events, failure, corrections, text: events.map(({ text }) => text).join('') };
}

const broken = () => new BrokenFormError('called fly', usage);

describe('askAgain', () => {
  it('asks once more for a whole answer, says what was wrong, and counts both', async () => {
    const { text, events, corrections } = await ask([['wrong', broken()], ['right']], true);
    expect(text).toBe('right');
    expect(events.at(-1)?.usage).toEqual({ promptTokens: 10, completionTokens: 4, cachedTokens: 2 });
    expect(corrections).toMatchObject([
      undefined,
      { role: 'user', content: expect.stringMatching('called fly') as string },
    ]);
  });

  it('shows that a whole answer is being written, without a word of it', async () => {
    const { events } = await ask([['a', 'b']], true);
    expect(events.map(({ text }) => text)).toEqual(['', '', '', 'a', 'b', '']);
  });

  it('asks a third time for nothing', async () => {
    const { text, failure } = await ask(
      [
        ['wrong', broken()],
        ['wrong', broken()],
      ],
      true,
    );
    expect(text).toBe('');
    expect(failure).toMatchObject({
      code: 'bad_upstream',
      final: true,
      message: expect.stringMatching('called fly') as string,
    });
  });

  it('streams as it comes, and asks again where nothing was passed on', async () => {
    expect(await ask([[broken()], ['right']], false)).toMatchObject({ text: 'right' });
    const { text, failure, corrections } = await ask([['wrong', broken()], ['right']], false);
    expect(text).toBe('wrong');
    expect(failure).toMatchObject({ code: 'bad_upstream' });
    expect(corrections).toHaveLength(1);
  });

  it('leaves other errors as they are', async () => {
    const error = new Error('gone');
    expect((await ask([['a', error]], true)).failure).toBe(error);
  });
});
