import { MegaNestError, invalidField } from '#contracts';

/** The first bytes of the formats that models take. */
const signatures: readonly (readonly [mimeType: string, matches: (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))],
  ['image/gif', (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))],
  ['image/webp', (bytes) => /^RIFF.{4}WEBP/s.test(bytes.toString('latin1', 0, 12))],
];

/** The type of an image by its first bytes, whatever its sender calls it. Errors: unsupported_file with the path. */
export function imageTypeOf(bytes: Uint8Array, param: string): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const known = signatures.find(([, matches]) => matches(buffer));
  if (known) return known[0];
  const detail = 'it is no PNG, JPEG, GIF or WebP';
  throw new MegaNestError('unsupported_file', { file: `at ${param}`, detail, param });
}

/** About how many bytes a data URL holds, without decoding it; 0 of an address, which holds none. */
export function sizeOfDataUrl(url: string): number {
  return url.startsWith('data:') ? Math.ceil(((url.length - url.indexOf(',') - 1) * 3) / 4) : 0;
}

/** The content of a data URL. Errors: invalid_request with the path. */
export function imageOfDataUrl(url: string, param: string): Uint8Array {
  const comma = url.indexOf(',');
  const head = url.slice(0, Math.max(comma, 0));
  // Node leaves out what is no base64; nothing may be left out.
  const data = url.slice(comma + 1).replaceAll(/\s/g, '');
  const bytes = Buffer.from(data, 'base64');
  const isWhole = bytes.length >= Math.floor((data.replaceAll('=', '').length * 3) / 4);
  if (head.endsWith(';base64') && isWhole && bytes.length > 0) return bytes;
  throw invalidField(param, 'must be a data URL of base64, or the address of an image');
}
