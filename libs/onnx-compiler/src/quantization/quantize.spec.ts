import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../checkpoint/checkpoint.fixture.js';
import type { Matrix } from '../checkpoint/matrix.js';
import { quantizedForTwo, quantizeLazily } from './quantize.js';

const [rows, columns] = [70, 33];
const random = randomNumbers(5);
const weights = Float32Array.from({ length: rows * columns }, () => random() - 0.5);

/** A matrix that counts how often it is read. */
function counted(): { matrix: Matrix; reads: () => number } {
  let reads = 0;
  const read = (): Promise<Float32Array> => {
    reads++;
    return Promise.resolve(weights);
  };
  return { matrix: { name: 'table', rows, columns, read }, reads: () => reads };
}

describe('quantizedForTwo', () => {
  it('reads the matrix once for a table and for its transposed form, and gives what each alone gives', async () => {
    const alone = [quantizeLazily(counted().matrix), quantizeLazily(counted().matrix, true)];
    const { matrix, reads } = counted();
    const shared = quantizedForTwo(matrix);
    const both = [quantizeLazily(shared), quantizeLazily(shared, true)];
    for (const [index, parts] of both.entries()) {
      expect(await parts.values()).toEqual(await alone[index]!.values());
      expect(await parts.scales()).toEqual(await alone[index]!.scales());
    }
    expect(reads()).toBe(1);
  });
});
