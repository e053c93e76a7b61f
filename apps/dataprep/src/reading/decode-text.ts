import { isUtf8 } from 'node:buffer';
import { unsupportedFile, type SourceFile } from './parsed-document.js';

/** Decoded text, and the encoding if it was guessed. */
export interface DecodedText {
  text: string;
  assumedEncoding?: string;
}

/**
 * Decodes bytes. A byte order mark or a pattern of zero bytes means UTF-16. All other bytes are read as UTF-8 if they
 * are valid UTF-8, else in the encoding that the Content-Type or the HTML page declares, else as Windows-1252 (a
 * superset of Latin-1). Windows-1252 is flagged as a guess. Throws `unsupported_file` for binary data.
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

/** Whether bytes are UTF-16, by their byte order mark or their pattern of zero bytes. */
export function isUtf16(bytes: Uint8Array): boolean {
  return utf16Encoding(bytes) !== undefined;
}

/** Decodes bytes; undefined if they are not valid in the encoding, or if the encoding is unknown. */
function decodeStrictly(bytes: Uint8Array, encoding: string | undefined): string | undefined {
  try {
    return encoding === undefined ? undefined : new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The `charset=…` of the Content-Type, or of a `meta` or `?xml` tag at the beginning of a page. */
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

/** Text has no zero bytes, and almost no control characters except tab, line ends, form feed and escape. */
function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, 8192);
  let controls = 0;
  for (const byte of sample) {
    if (byte === 0) return true;
    if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27) || byte === 127) controls += 1;
  }
  return controls > sample.length * 0.02;
}
