import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planBatches } from './encoder-model.js';

const limits = { paddedTokens: 256, spread: 1.15 };

describe('planBatches', () => {
  it('puts texts of like length together, within the budget', () => {
    expect(planBatches([10, 100, 11, 101, 100], limits)).toEqual([[0, 2], [1, 4], [3]]);
  });

  it('loses and repeats nothing, and exceeds the budget only for a text that does alone', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 512 }), { maxLength: 100 }), (lengths) => {
        const batches = planBatches(lengths, limits);
        expect(batches.flat().sort((a, b) => a - b)).toEqual(lengths.map((_length, index) => index));
        for (const batch of batches) {
          const longest = Math.max(...batch.map((index) => lengths[index]!));
          const shortest = Math.min(...batch.map((index) => lengths[index]!));
          expect(batch.length === 1 || longest * batch.length <= limits.paddedTokens).toBe(true);
          expect(longest).toBeLessThanOrEqual(Math.ceil(shortest * limits.spread));
        }
      }),
    );
  });
});
