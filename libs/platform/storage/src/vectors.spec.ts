import { describe, expect, it } from 'vitest';
import {
  decodeVectorColumn,
  encodeRealArray,
  encodeVectorParameter,
  requireUsableVector,
  vectorIndexOf,
} from './vectors.js';

describe('vectors', () => {
  it('encodes as pgvector receives it', () => {
    expect(encodeVectorParameter(Float32Array.of(1, -2)).toString('hex')).toBe('000200003f800000c0000000');
  });

  it('encodes several as one array of real', () => {
    const part = Float32Array.of(9, -2).subarray(1);
    const header = ['00000001', '00000000', '000002bc', '00000002', '00000001'].join('');
    const values = ['00000004', '3f800000', '00000004', 'c0000000'].join('');
    expect(encodeRealArray([Float32Array.of(1), part]).toString('hex')).toBe(header + values);
  });

  it('decodes what pgvector prints', () => {
    expect([...decodeVectorColumn('[1,-2.5,1e-3]')]).toEqual([1, -2.5, Math.fround(0.001)]);
  });

  it.each([[[]], [[0, 0]], [[1, Number.NaN]], [[Infinity]]])('refuses %s', (values) => {
    expect(() => requireUsableVector(Float32Array.from(values), 'embedding')).toThrow(/embedding: /);
  });

  it.each([[1e-45], [3e38], [-1]])('accepts a vector with %s alone', (value) => {
    expect(() => requireUsableVector(Float32Array.of(0, value, 0), 'embedding')).not.toThrow();
  });

  it.each([
    [384, 'halfvec(384)', 'halfvec_cosine_ops'],
    [4_000, 'halfvec(4000)', 'halfvec_cosine_ops'],
    [4_001, 'halfvec(4001)', undefined],
  ])('indexes %s dimensions as %s', (dimensions, type, operatorClass) => {
    expect(vectorIndexOf(dimensions)).toMatchObject({ type, expression: `embedding::${type}` });
    expect(vectorIndexOf(dimensions).operatorClass).toBe(operatorClass);
  });
});
