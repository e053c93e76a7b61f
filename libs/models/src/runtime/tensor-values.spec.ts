import { describe, expect, it } from 'vitest';
import { decodeHalves } from './tensor-values.js';

describe('decodeHalves', () => {
  it('reads half-precision numbers from their bits', () => {
    const bits = Uint16Array.of(0x3c00, 0xc000, 0x0000, 0x7bff, 0x0001, 0x03ff, 0x7c00, 0xfc00, 0x3555);
    const values = [1, -2, 0, 65_504, 2 ** -24, 1023 * 2 ** -24, Infinity, -Infinity, 0.333251953125];
    expect([...decodeHalves(bits)]).toEqual(values);
    expect(decodeHalves(Uint16Array.of(0x7e00))[0]).toBeNaN();
  });
});
