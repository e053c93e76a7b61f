import { describe, expect, it } from 'vitest';
import { decodePicture, maxPixels, type Picture } from './decode-picture.js';
import { drawPicture, encodeJpeg, encodePng, encodeWebp, pngOf } from './picture-files.fixture.js';
import { readPictureHeader } from './picture-size.js';

const drawn = drawPicture(61, 40);
const param = 'input[0].content[1]';

/** Mean difference of two pictures of the same size, in steps of 0 to 255. */
function difference(picture: Picture, expected: Picture): number {
  expect([picture.width, picture.height]).toEqual([expected.width, expected.height]);
  return (
    picture.pixels.reduce((sum, value, index) => sum + Math.abs(value - expected.pixels[index]!), 0) /
    picture.pixels.length
  );
}

describe('decodePicture', () => {
  it('reads PNG and lossless WebP exactly, JPEG and lossy WebP nearly', async () => {
    expect(difference(await decodePicture(encodePng(drawn), param), drawn)).toBe(0);
    expect(difference(await decodePicture(await encodeWebp(drawn, true), param), drawn)).toBe(0);
    expect(difference(await decodePicture(await encodeWebp(drawn, false), param), drawn)).toBeLessThan(4);
    expect(difference(await decodePicture(await encodeJpeg(drawn), param), drawn)).toBeLessThan(4);
  });

  it('turns a JPEG as its EXIF orientation says', async () => {
    const upright = await decodePicture(await encodeJpeg(drawn), param);
    const turned = await decodePicture(await encodeJpeg(drawn, 6), param);
    expect([turned.width, turned.height]).toEqual([40, 61]);
    // Orientation 6: the first row of the file is the right column of the picture.
    const first = [...upright.pixels.subarray(0, 3)];
    expect([...turned.pixels.subarray(39 * 3, 40 * 3)]).toEqual(first);
  });

  it('puts transparent pixels on white', async () => {
    const { pixels } = await decodePicture(encodePng(drawn, 0), param);
    expect(pixels.every((value) => value === 255)).toBe(true);
    const half = await decodePicture(encodePng(drawn, 51), param);
    expect(half.pixels[0]).toBe(Math.round((drawn.pixels[0]! * 51 + 255 * 204) / 255));
  });

  it('refuses a picture of too many pixels before it decodes one', async () => {
    await expect(decodePicture(pngOf(7680, 4321), param)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: `The image of 7680 × 4321 pixels is larger than the limit of ${maxPixels} pixels.`,
      param,
    });
    await expect(decodePicture(pngOf(0xffffffff, 0xffffffff), param)).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  });

  it.each<[string, () => Uint8Array | Promise<Uint8Array>]>([
    ['an empty file', () => new Uint8Array(0)],
    ['a text', () => Buffer.from('GIF89a is not served')],
    ['a PNG without its pixels', () => pngOf(100, 100)],
    ['a PNG of no width', () => pngOf(0, 100)],
    ['a cut PNG', () => encodePng(drawn).subarray(0, 200)],
    ['a cut JPEG', async () => (await encodeJpeg(drawn)).subarray(0, 200)],
    ['a cut WebP', async () => (await encodeWebp(drawn, true)).subarray(0, 200)],
    ['a JPEG that is all markers', () => Buffer.from('ffd8ffe00002'.padEnd(400, 'ffe00002'), 'hex')],
  ])('names the field for %s', async (_name, file) => {
    const error = { code: 'unsupported_file', param };
    await expect(decodePicture(await file(), param)).rejects.toMatchObject(error);
  });

  it('decodes after an error', async () => {
    for (const encoded of [await encodeJpeg(drawn), encodePng(drawn)]) {
      await expect(decodePicture(encoded.subarray(0, 200), param)).rejects.toThrow('damaged');
      expect((await decodePicture(encoded, param)).width).toBe(61);
    }
  });
});

describe('readPictureHeader', () => {
  it('reads the sizes of all formats', async () => {
    const size = { width: 61, height: 40 };
    expect(readPictureHeader(encodePng(drawn))).toEqual({ format: 'png', ...size });
    expect(readPictureHeader(await encodeJpeg(drawn, 3))).toEqual({ format: 'jpeg', ...size });
    expect(readPictureHeader(await encodeWebp(drawn, true))).toEqual({ format: 'webp', ...size });
    expect(readPictureHeader(await encodeWebp(drawn, false))).toEqual({ format: 'webp', ...size });
  });
});
