import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../checkpoint/checkpoint.fixture.js';
import { dequantizeBlocks, quantizeBlocks } from './blocks.js';
import { type BlockFormat, halfAt } from '../checkpoint/matrix.js';

const [rows, columns] = [12, 200];
const random = randomNumbers(3);
/** Sums of uniform numbers, as weights are: many small ones and few large ones. */
const weights = Float32Array.from(
  { length: rows * columns },
  () => (random() + random() + random() + random()) / 50,
);

function meanSquare(values: Float32Array, expected: Float32Array): number {
  return values.reduce((sum, value, index) => sum + (value - expected[index]!) ** 2, 0) / values.length;
}

function roundTrip(format: BlockFormat, values = weights): Float32Array {
  return dequantizeBlocks(quantizeBlocks(values, rows, columns, format), rows, columns, format);
}

/** Rounding by the largest magnitude alone, without a search. */
function roundPlainly(block: number): Float32Array {
  const result = new Float32Array(weights.length);
  for (let row = 0; row < rows; row++)
    for (let start = row * columns; start < (row + 1) * columns; start += block) {
      const part = weights.subarray(start, Math.min(start + block, (row + 1) * columns));
      const step = Math.max(...part.map(Math.abs)) / 7;
      result.set(
        part.map((value) => Math.round(value / step) * step),
        start,
      );
    }
  return result;
}

describe('quantizeBlocks', () => {
  it('has less error than rounding by the largest value, and still less with zero points', () => {
    for (const block of [32, 128]) {
      const symmetric = meanSquare(roundTrip({ bits: 4, block, zeroPoints: false }), weights);
      expect(symmetric).toBeLessThan(0.9 * meanSquare(roundPlainly(block), weights));
      expect(meanSquare(roundTrip({ bits: 4, block, zeroPoints: true }), weights)).toBeLessThan(symmetric);
    }
  });

  it('keeps weights that lie on 16 levels, whatever the zero point', () => {
    const levels = weights.map((_value, index) => (((index * 7) % 16) - (index % 400 < 200 ? 8 : 3)) * 0.01);
    const error = (zeroPoints: boolean) =>
      meanSquare(roundTrip({ bits: 4, block: 40, zeroPoints }, levels), levels);
    expect(error(true)).toBeLessThan(1e-12);
    expect(error(false)).toBeGreaterThan(1e-7);
  });

  it('packs the first weight into the low half, pads with the zero point and keeps zeros', () => {
    const values = Float32Array.from([-8, 7, 0.4, 0, 0, 0]);
    const packed = quantizeBlocks(values, 2, 3, { bits: 4, block: 32, zeroPoints: false });
    expect(packed.values).toHaveLength(32);
    expect(Array.from({ length: 4 }, (_unused, index) => halfAt(packed.values, index))).toEqual([
      0, 15, 8, 8,
    ]);
    expect(packed.scales[0]).toBeCloseTo(1, 5);
    expect(packed.scales[1]).toBe(0);
  });

  it('has steps of a 127th of the largest value with 8 bits', () => {
    const result = roundTrip({ bits: 8, block: 32, zeroPoints: false });
    const error = result.map((value, index) => Math.abs(value - weights[index]!));
    expect(Math.max(...error)).toBeLessThanOrEqual((0.08 / 127) * 0.51);
  });
});
