import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { crc32, deflateSync } from 'node:zlib';
import encodeJpegFile, { init as startJpeg } from '@jsquash/jpeg/encode.js';
import encodeWebpFile, { init as startWebp } from '@jsquash/webp/encode.js';
import type { Picture } from './decode-picture.js';

/** Draws a picture with smooth gradients and some edges; `seed` chooses it. */
export function drawPicture(width: number, height: number, seed = 0): Picture {
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3;
      const inside = Math.hypot(x - width / 3, y - height / 2) < Math.min(width, height) / 4;
      pixels[at] = inside ? 220 : 128 + 100 * Math.sin(x / 9 + seed);
      pixels[at + 1] = 128 + 90 * Math.cos(y / 7 + 2 * seed);
      pixels[at + 2] = inside ? 30 : (255 * (x + y)) / (width + height);
    }
  return { width, height, pixels };
}

/** Encodes a PNG; with `alpha` each pixel has this opacity. */
export function encodePng({ width, height, pixels }: Picture, alpha?: number): Uint8Array {
  const channels = alpha === undefined ? 3 : 4;
  const rows = Buffer.alloc(height * (width * channels + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const to = y * (width * channels + 1) + 1 + x * channels;
      rows.set(pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3), to);
      if (alpha !== undefined) rows[to + 3] = alpha;
    }
  return pngOf(width, height, { colorType: channels === 4 ? 6 : 2, rows });
}

/** Returns a PNG file whose header has this size, whatever its data is. */
export function pngOf(
  width: number,
  height: number,
  { colorType = 2, rows = Buffer.alloc(0) }: { colorType?: number; rows?: Buffer } = {},
): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, colorType], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

/** Encodes a JPEG; `orientation`: of its EXIF data. */
export async function encodeJpeg(picture: Picture, orientation?: number): Promise<Uint8Array> {
  await startJpeg({ wasmBinary: await codeOf('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm') });
  const file = Buffer.from(await encodeJpegFile(imageDataOf(picture), { quality: 95 }));
  if (orientation === undefined) return file;
  const entry = [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0];
  const exif = Buffer.from([...Buffer.from('Exif\0\0II*\0'), 8, 0, 0, 0, 1, 0, ...entry, 0, 0, 0, 0]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(exif.length + 2);
  return Buffer.concat([file.subarray(0, 2), Buffer.from([0xff, 0xe1]), length, exif, file.subarray(2)]);
}

/** Encodes a WebP. */
export async function encodeWebp(picture: Picture, lossless: boolean): Promise<Uint8Array> {
  await startWebp({ wasmBinary: await codeOf('@jsquash/webp/codec/enc/webp_enc.wasm') });
  const options = lossless ? { lossless: 1 } : { quality: 95 };
  return new Uint8Array(await encodeWebpFile(imageDataOf(picture), options));
}

async function codeOf(file: string): Promise<ArrayBuffer> {
  return new Uint8Array(await readFile(createRequire(import.meta.url).resolve(file))).buffer;
}

/** The encoders take the type of browsers. */
function imageDataOf({ width, height, pixels }: Picture) {
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++)
    data.set(pixels.subarray(pixel * 3, pixel * 3 + 3), pixel * 4);
  return { width, height, data, colorSpace: 'srgb' as const };
}
