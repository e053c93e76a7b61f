import { describe, expect, it } from 'vitest';
import { compareVersions } from './migrator.js';

describe('compareVersions', () => {
  it.each([
    ['0.8.0', '0.8.0', 0],
    ['0.7.4', '0.8.0', -1],
    ['0.10.0', '0.8.0', 1],
    ['1.0', '0.8.0', 1],
    ['0.8', '0.8.0', 0],
  ])('compares %s with %s', (left, right, sign) => {
    expect(Math.sign(compareVersions(left, right))).toBe(sign);
  });
});
