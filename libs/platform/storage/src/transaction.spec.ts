import { describe, expect, it } from 'vitest';
import { toPostgresJson, toPostgresText } from './transaction.js';

describe('text for Postgres', () => {
  it('drops NUL and replaces halves of pairs, keeping whole ones', () => {
    expect(toPostgresText('a\0b \uD83D c \uDE00 d 😀')).toBe('ab \uFFFD c \uFFFD d 😀');
  });

  it('cleans keys and values at every depth', () => {
    const value = { 'k\0': ['x\0', { y: '\uD83D' }], n: 1, nothing: null, date: new Date(0) };
    expect(JSON.parse(toPostgresJson(value))).toEqual({
      k: ['x', { y: '\uFFFD' }],
      n: 1,
      nothing: null,
      date: '1970-01-01T00:00:00.000Z',
    });
  });
});
