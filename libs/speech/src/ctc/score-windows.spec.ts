import { assert, asyncProperty, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scoreWindows } from './score-windows.js';

/** A network of one unit and four samples a step: the score of a step is its first sample. */
const run = (samples: Float32Array) => {
  const values = samples.filter((_, index) => index % 4 === 0);
  return Promise.resolve({ values, steps: values.length, width: 1 });
};

describe('scoreWindows', () => {
  it('joins windows without gap or repetition, whatever the length', () =>
    assert(
      asyncProperty(integer({ min: 1, max: 2_000 }), async (length) => {
        const samples = Float32Array.from({ length }, (_, index) => index);
        const { values } = await scoreWindows(samples, { window: 80, overlap: 16 }, run);
        expect([...values]).toEqual([...(await run(samples)).values]);
      }),
    ));

  it('runs a piece that fits one window once', async () => {
    const scores = await scoreWindows(Float32Array.of(1, 2, 3, 4), { window: 8, overlap: 2 }, run);
    expect([...scores.values]).toEqual([1]);
  });
});
