import { describe, expect, it } from 'vitest';
import { imageOfDataUrl, imageTypeOf, sizeOfDataUrl, TextCache } from './input-files.js';

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

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('imageTypeOf', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n…', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a', 'image/gif'],
    ['RIFF\x00\n\x00\x00WEBPVP8 ', 'image/webp'],
  ])('of %j is %s', (content, type) => {
    expect(imageTypeOf(bytes(content), 'p')).toBe(type);
  });

  it.each(['<svg>', ''])('refuses %j with its path', (content) => {
    expect(() => imageTypeOf(bytes(content), 'p')).toThrow(
      expect.objectContaining({ code: 'unsupported_file', param: 'p' }),
    );
  });
});

describe('sizeOfDataUrl', () => {
  it('tells the bytes of what is in it', () => {
    expect(sizeOfDataUrl(`data:image/png;base64,${'A'.repeat(400)}`)).toBe(300);
    expect(sizeOfDataUrl('https://example.org/image.png')).toBe(0);
  });
});

describe('imageOfDataUrl', () => {
  it('gives the bytes, whatever stands in front of them', () => {
    expect(imageOfDataUrl('data:image/png;base64,AAE=', 'p')).toEqual(Buffer.of(0, 1));
    expect(imageOfDataUrl('data:;base64,AAE', 'p')).toEqual(Buffer.of(0, 1));
  });

  it.each(['data:image/png,AA', 'data:image/png;base64,', 'data:image/png;base64,A!!!!A==', 'data:'])(
    'refuses %s with its path',
    (url) => {
      expect(() => imageOfDataUrl(url, 'p')).toThrow(
        expect.objectContaining({ code: 'invalid_request', param: 'p' }),
      );
    },
  );
});
