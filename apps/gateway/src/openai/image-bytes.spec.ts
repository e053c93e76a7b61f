import { describe, expect, it } from 'vitest';
import { imageOfDataUrl, imageTypeOf } from './image-bytes.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('imageTypeOf', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n…', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a', 'image/gif'],
    ['RIFF\x00\n\x00\x00WEBPVP8 ', 'image/webp'],
    ['<svg>', undefined],
    ['', undefined],
  ])('of %j is %s', (content, type) => {
    expect(imageTypeOf(bytes(content))).toBe(type);
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
