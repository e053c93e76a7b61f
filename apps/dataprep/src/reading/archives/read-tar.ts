import { unsupportedFile } from '../parsed-document.js';
import type { PackedFile } from './archive.js';

const blockBytes = 512;
const decoder = new TextDecoder();

/** Whether bytes begin with the header of a tar archive: its checksum is right. */
export function isTar(bytes: Uint8Array): boolean {
  if (bytes.length < blockBytes || bytes[0] === 0) return false;
  const stored = octal(bytes.subarray(148, 156));
  let sum = 0;
  for (let at = 0; at < blockBytes; at += 1) sum += at >= 148 && at < 156 ? 32 : bytes[at]!;
  return stored === sum;
}

/**
 * The files of a tar archive (ustar, pax and GNU names). Links and devices come without content. Errors: unsupported_file
 * for a damaged archive.
 */
export function* tarFiles(bytes: Uint8Array, filename: string): Generator<PackedFile, void, void> {
  let longName: string | undefined;
  for (let at = 0; at + blockBytes <= bytes.length && bytes[at] !== 0;) {
    const header = bytes.subarray(at, at + blockBytes);
    if (!isTar(header)) throw unsupportedFile(filename, 'its archive is damaged');
    const size = octal(header.subarray(124, 136));
    const content = bytes.subarray(at + blockBytes, at + blockBytes + size);
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
    const type = String.fromCharCode(header[156]!);
    if (type === 'L') longName = textOf(content);
    else if (type === 'x') longName = paxPath(content) ?? longName;
    else if (type !== 'g' && type !== 'K') {
      const path = longName ?? nameOf(header);
      longName = undefined;
      if (type === '5') continue;
      const isFile = type === '0' || type === '\0' || type === '7';
      const isWhole = content.length === size;
      yield {
        path,
        content: () =>
          isFile && isWhole ? content : refuse(isFile ? 'it is cut off' : 'it is a link or a device'),
      };
    }
  }
}

function refuse(reason: string): never {
  throw new Error(reason);
}

function nameOf(header: Uint8Array): string {
  const prefix = textOf(header.subarray(257, 262)) === 'ustar' ? textOf(header.subarray(345, 500)) : '';
  const name = textOf(header.subarray(0, 100));
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** `27 path=a/b.txt\n` */
function paxPath(content: Uint8Array): string | undefined {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(decoder.decode(content))?.[1];
}

function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return decoder.decode(end === -1 ? bytes : bytes.subarray(0, end));
}

/** A number in octal digits; or in bytes, as GNU writes large ones. */
function octal(bytes: Uint8Array): number {
  if ((bytes[0]! & 0x80) !== 0) return bytes.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
  return Number.parseInt(textOf(bytes).trim() || '0', 8) || 0;
}
