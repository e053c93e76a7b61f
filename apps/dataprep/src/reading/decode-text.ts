import { isUtf8 } from 'node:buffer';
import { unsupportedFile, type SourceFile } from './parsed-document.js';

/** Decoded text, and the encoding where it had to be guessed. */
export interface DecodedText {
  text: string;
  assumedEncoding?: string;
}

/**
 * Bytes to text: UTF-16 by its byte order mark or its pattern of zero bytes, else UTF-8 (with or without mark). Bytes
 * that are no UTF-8 are read as what the Content-Type or the HTML page itself declares, else as Windows-1252
 * (Latin-1's superset), which is flagged as a guess. Binary data throws `unsupported_file`.
 */
export function decodeText({ bytes, filename, mimeType }: SourceFile): DecodedText {
  const wide = utf16Encoding(bytes);
  if (wide) return { text: new TextDecoder(wide).decode(bytes) };
  if (looksBinary(bytes)) throw unsupportedFile(filename, 'it is binary data of an unknown type');
  const text = decodeStrictly(bytes, 'utf-8') ?? decodeStrictly(bytes, declaredEncoding(bytes, mimeType));
  if (text !== undefined) return { text };
  return { text: new TextDecoder('windows-1252').decode(bytes), assumedEncoding: 'windows-1252' };
}

/** Whether bytes of an unknown type are text: UTF-8 or UTF-16. */
export function isText(bytes: Uint8Array): boolean {
  return utf16Encoding(bytes) !== undefined || (isUtf8(bytes) && !looksBinary(bytes));
}

/** Whether bytes are UTF-16, by their mark or their pattern. */
export function isUtf16(bytes: Uint8Array): boolean {
  return utf16Encoding(bytes) !== undefined;
}

/** Undefined where the bytes are not of that encoding, or the encoding is not known. */
function decodeStrictly(bytes: Uint8Array, encoding: string | undefined): string | undefined {
  try {
    return encoding === undefined ? undefined : new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** `charset=…` of the Content-Type, or of the `meta` and `?xml` tags at the beginning of a page. */
function declaredEncoding(bytes: Uint8Array, mimeType: string): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 2048)).toString('latin1');
  const declared =
    /charset=["']?([\w.:-]+)/i.exec(mimeType) ??
    /<(?:meta|\?xml)[^>]*?(?:charset|encoding)=["']?([\w.:-]+)/i.exec(head);
  return declared?.[1];
}

function utf16Encoding(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const sample = bytes.subarray(0, 1024);
  const pairs = Math.floor(sample.length / 2);
  if (pairs < 4) return undefined;
  const zerosAt = (offset: number) => {
    let zeros = 0;
    for (let index = offset; index < pairs * 2; index += 2) if (sample[index] === 0) zeros += 1;
    return zeros / pairs;
  };
  if (zerosAt(1) > 0.7 && zerosAt(0) < 0.05) return 'utf-16le';
  if (zerosAt(0) > 0.7 && zerosAt(1) < 0.05) return 'utf-16be';
  return undefined;
}

/** Text has no zero bytes and next to no control characters beside tab, line ends, form feed and escape. */
function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, 8192);
  let controls = 0;
  for (const byte of sample) {
    if (byte === 0) return true;
    if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27) || byte === 127) controls += 1;
  }
  return controls > sample.length * 0.02;
}
