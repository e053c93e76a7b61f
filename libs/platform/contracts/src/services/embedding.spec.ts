import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeVector, decodeVectors, encodeVector, encodeVectors } from './embedding.js';

const floats = (length: number) =>
  fc
    .array(fc.float({ noNaN: true }), { minLength: length, maxLength: length })
    .map((values) => Float32Array.from(values));

describe('vectors on the wire', () => {
  it('come back bit for bit', () => {
    fc.assert(
      fc.property(fc.array(floats(7), { minLength: 1, maxLength: 20 }), (vectors) => {
        expect(decodeVectors(encodeVectors(vectors), 7)).toEqual(vectors);
      }),
    );
    fc.assert(
      fc.property(floats(5), (vector) => {
        expect(decodeVector(encodeVector(vector))).toEqual(vector);
      }),
    );
  });

  it('are no vectors with a part of a number', () => {
    expect(() => decodeVector('AAAAAAA=')).toThrow('5 bytes');
  });
});
