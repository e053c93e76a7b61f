import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import decodeJpeg, { init as startJpeg } from '@jsquash/jpeg/decode.js';
import decodePng, { init as startPng } from '@jsquash/png/decode.js';
import decodeWebp, { init as startWebp } from '@jsquash/webp/decode.js';
import { MegaNestError } from '#platform/contracts';
import { type PictureHeader, readPictureHeader } from './picture-size.js';

/** A picture in memory: `pixels` has red, green and blue of each pixel, `[height, width, 3]`. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** Maximum pixels of a picture, the size of 8K video. A small file can say that it has many more. */
export const maxPixels = 7680 * 4320;

/**
 * Decodes a PNG, JPEG or WebP file in WebAssembly. A JPEG is turned as its EXIF orientation says; what is transparent
 * becomes white. `param`: the path of the picture in the caller's request. Errors: unsupported_file for another format
 * or a damaged file; payload_too_large above {@link maxPixels}, before any pixel is decoded.
 */
export async function decodePicture(bytes: Uint8Array, param: string): Promise<Picture> {
  const unreadable = (detail: string, cause?: unknown): MegaNestError =>
    new MegaNestError('unsupported_file', { file: `at ${param}`, detail, param, cause });
  const header = readPictureHeader(bytes);
  if (!header) throw unreadable('it is not a PNG, JPEG or WebP image');
  if (header.width * header.height > maxPixels) {
    const what = `The image of ${header.width} × ${header.height} pixels`;
    throw new MegaNestError('payload_too_large', { what, limit: `${maxPixels} pixels`, param });
  }
  let decoded: DecodedPixels;
  try {
    decoded = await decoders[header.format](exactBuffer(bytes));
  } catch (error) {
    throw unreadable(`its ${names[header.format]} data is damaged or of a kind that is not supported`, error);
  }
  return { width: decoded.width, height: decoded.height, pixels: withoutAlpha(decoded.data) };
}

type Format = PictureHeader['format'];
/** Red, green, blue and opacity of each pixel. */
interface DecodedPixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

const names: Readonly<Record<Format, string>> = { png: 'PNG', jpeg: 'JPEG', webp: 'WebP' };

/** The decoders of C print to the console; the error of a request says enough. */
const quiet = { print: () => {}, printErr: () => {} };

/** Each picture has a new instance of a decoder of C, since an error leaves an instance in an unknown state. */
const decoders: Readonly<Record<Format, (bytes: ArrayBuffer) => Promise<DecodedPixels>>> = {
  async png(bytes) {
    await startPng(await codeOf('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'));
    return decodePng(bytes);
  },
  async jpeg(bytes) {
    await startJpeg({ wasmBinary: await codeOf('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'), ...quiet });
    return decodeJpeg(bytes, { preserveOrientation: true });
  },
  async webp(bytes) {
    await startWebp({ wasmBinary: await codeOf('@jsquash/webp/codec/dec/webp_dec.wasm'), ...quiet });
    return decodeWebp(bytes);
  },
};

/** Reads the code of a decoder. The packages would fetch it, which Node does not do for files. */
async function codeOf(file: string): Promise<ArrayBuffer> {
  return exactBuffer(await readFile(createRequire(import.meta.url).resolve(file)));
}

/** The decoders take whole buffers. */
function exactBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

/** Red, green and blue of each pixel on white: `[…, 4]` → `[…, 3]`. */
function withoutAlpha(rgba: Uint8ClampedArray): Uint8Array {
  const pixels = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4, to += 3) {
    const alpha = rgba[from + 3]!;
    for (let channel = 0; channel < 3; channel++) {
      const value = rgba[from + channel]!;
      pixels[to + channel] = alpha === 255 ? value : Math.round((value * alpha + 255 * (255 - alpha)) / 255);
    }
  }
  return pixels;
}
