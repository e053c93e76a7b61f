import { randomInt } from 'node:crypto';

/** Returns uniform numbers in [0, 1); the same seed and stream give the same numbers. */
export type RandomSource = () => number;

/**
 * A small-state generator (sfc32: 128 bits, passes PractRand) for sampling.
 * @param seed Any integer; without one the numbers differ each time.
 * @param stream Index of the completion, so that the completions of one request differ.
 */
export function createRandom(seed: number | undefined, stream = 0): RandomSource {
  const value = seed ?? randomInt(2 ** 47);
  let a = value | 0;
  let b = Math.trunc(value / 2 ** 32) | 0;
  let c = stream | 0;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
  // Seeds that differ in one bit give similar numbers at first.
  for (let round = 0; round < 15; round++) next();
  return next;
}
