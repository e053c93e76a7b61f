import { isUtf8 } from 'node:buffer';
import { decoderOf, encodingName } from './encodings/encodings.js';
import { guessEncoding, type EncodingGuess } from './encodings/guess-encoding.js';
import { looksLikeUtf16 } from './encodings/wide-text.js';
import { unsupportedFile, type ReadingWarning, type SourceFile } from './parsed-document.js';

/** Decoded text, its encoding, and what is uncertain about it. */
export interface DecodedText {
  text: string;
  encoding: string;
  /** Confidence in the encoding if it was guessed, from 0 to 1. */
  confidence?: number;
  warnings: ReadingWarning[];
}

/** Share of the bytes outside of ASCII that are valid UTF-8, from which on the others are damage. */
const minValidShare = 0.8;

/**
 * Decodes bytes: in the encoding that the sender names; else by a byte order mark; as UTF-8 if they are valid or almost
 * valid UTF-8; in the encoding that the Content-Type or the page declares; else in the encoding that their letters fit
 * best, which is flagged as a guess. Throws `unsupported_file` for binary data.
 */
export function decodeText({ bytes, filename, mimeType, encoding }: SourceFile): DecodedText {
  if (encoding !== undefined) return decodeAs(bytes, encoding);
  const wide = utf16Encoding(bytes);
  if (wide) return decodeAs(bytes, wide);
  if (looksBinary(bytes)) throw unsupportedFile(filename, 'it is binary data of an unknown type');
  const head = Buffer.from(bytes.subarray(0, sampleBytes)).toString('latin1');
  if (escapes.some((escape) => head.includes(escape))) return decodeAs(bytes, 'iso-2022-jp');
  const known = ['utf-8', declaredEncoding(bytes, mimeType)];
  for (const name of known) {
    const text = decodeStrictly(bytes, name);
    if (text !== undefined) return { text, encoding: encodingName(name ?? '')!, warnings: [] };
  }
  if (isMostlyUtf8(countUtf8(bytes))) return decodeAs(bytes, 'utf-8');
  const guess = guessEncoding(bytes);
  const decoded = decodeAs(bytes, guess.encoding);
  const warnings = [guessWarning(guess), ...decoded.warnings];
  return { ...decoded, confidence: guess.confidence, warnings };
}

/** The warning for a guessed encoding. */
export function guessWarning({ encoding, confidence }: EncodingGuess): ReadingWarning {
  const message = `The encoding ${encoding} was guessed (confidence ${confidence}). Send the field encoding if it is wrong.`;
  return { code: 'encoding_guessed', message };
}

/** The escapes with which ISO 2022 begins Japanese text. */
const escapes = ['\u001b$B', '\u001b$@'];
const sampleBytes = 16_384;

function decodeAs(bytes: Uint8Array, encoding: string): DecodedText {
  const text = decoderOf(encoding).decode(bytes);
  const damaged = text.match(/\ufffd/g)?.length ?? 0;
  if (damaged === 0) return { text, encoding, warnings: [] };
  const message = `Places that are not valid ${encoding} and were replaced: ${damaged}.`;
  return { text, encoding, warnings: [{ code: 'damaged_text', message }] };
}

/** Bytes outside of ASCII: those of valid UTF-8 characters, and the damaged places. */
export interface Utf8Counts {
  valid: number;
  damaged: number;
}

/** Counts the bytes outside of ASCII. */
export function countUtf8(bytes: Uint8Array): Utf8Counts {
  const text = new TextDecoder().decode(bytes);
  const counts = { valid: 0, damaged: 0 };
  for (const [found] of text.matchAll(/[\u0080-\uffff]+/g)) {
    const broken = found.match(/\ufffd/g)?.length ?? 0;
    counts.damaged += broken;
    counts.valid += Buffer.byteLength(found) - 3 * broken;
  }
  return counts;
}

/** Whether a text with these bytes is UTF-8 with some damage. */
export function isMostlyUtf8({ valid, damaged }: Utf8Counts): boolean {
  return valid / Math.max(1, valid + damaged) >= minValidShare;
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
function decodeStrictly(bytes: Uint8Array, label = ''): string | undefined {
  const encoding = encodingName(label);
  if (encoding === undefined) return undefined;
  if (encoding === 'utf-8' && !isUtf8(bytes)) return undefined;
  const text = decoderOf(encoding).decode(bytes);
  return encoding === 'utf-8' || !text.includes('\ufffd') ? text : undefined;
}

/** Pages may declare their encoding after long styles. */
const headBytes = 65_536;

/** The `charset=…` of the Content-Type, or of a `meta` or `?xml` tag at the beginning of a page. */
function declaredEncoding(bytes: Uint8Array, mimeType: string): string | undefined {
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString('latin1');
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
  return looksBinary(bytes) ? looksLikeUtf16(bytes) : undefined;
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
