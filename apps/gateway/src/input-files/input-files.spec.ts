import { expect, it } from 'vitest';
import { TextCache } from './input-files.js';

it('TextCache forgets what was not asked for the longest, and never holds more than its size', () => {
  const cache = new TextCache(10);
  cache.set('a', '1234');
  cache.set('b', '1234');
  expect(cache.get('a')).toBe('1234');
  cache.set('c', '1234');
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['1234', undefined, '1234']);
  cache.set('a', '12345678');
  expect([cache.get('a'), cache.get('c')]).toEqual(['12345678', undefined]);
  cache.set('d', 'longer than all');
  expect([cache.get('a'), cache.get('d')]).toEqual([undefined, undefined]);
});
