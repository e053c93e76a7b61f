import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PromptLookup } from './prompt-lookup.js';

describe('PromptLookup', () => {
  it('continues as the longest run that occurred before did, the latest of several', () => {
    const lookup = new PromptLookup([1, 2, 3, 4, 9, 2, 3, 5, 6, 1, 2, 3], 3);
    expect(lookup.guess(2)).toEqual([4, 9]);
    expect(new PromptLookup([1, 2, 3, 4, 9, 2, 3, 5, 6, 7, 2, 3], 2).guess(2)).toEqual([5, 6]);
  });

  it('learns from what is appended and knows nothing about what is new', () => {
    const lookup = new PromptLookup([1, 2, 3], 3);
    expect(lookup.guess(3)).toEqual([]);
    lookup.append([7, 1, 2]);
    expect(lookup.guess(9)).toEqual([3, 7, 1, 2]);
  });

  it('guesses only what really followed an occurrence of the last token', () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(
        tokens,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 8 }),
        (all, size, count) => {
          const guess = new PromptLookup(all, size).guess(count);
          const followers = all.flatMap((token, at) =>
            token === all.at(-1) && at + 1 < all.length ? [all.slice(at + 1, at + 1 + count).join()] : [],
          );
          expect(guess.length === 0 ? followers.length === 0 : followers.includes(guess.join())).toBe(true);
        },
      ),
    );
  });
});
