import { createHash } from 'node:crypto';
import { MegaNestError } from '#platform/contracts';
import { shiftPlaces } from '../chunking/places-in-text.js';
import { startsAsZip } from '../reading/archives/archive.js';
import { countUtf8, decodeText, guessWarning, isMostlyUtf8, isUtf16 } from '../reading/decode-text.js';
import { detectType } from '../reading/detect-type.js';
import { decoderOf } from '../reading/encodings/encodings.js';
import { guessEncoding } from '../reading/encodings/guess-encoding.js';
import type { PreparedDocument } from './prepare-document.js';

/** Plain texts of this size or more are read in sections, so that they are never in memory as a whole. */
export const streamedBytes = 8 * 1024 * 1024;
/** Characters of a section. */
const sectionCharacters = 1024 * 1024;
/** Number of bytes at the beginning of a file that determine its type. */
const headBytes = 64 * 1024;

/** Bytes that can be read several times. */
export type Opened = () => AsyncIterable<Uint8Array>;

/** Facts about a large text, from a first pass over its bytes. */
export interface StreamedText {
  sha256: string;
  bytes: number;
  /** The sender's encoding, UTF-8, or a guess for other bytes. */
  encoding: string;
  /** Confidence in a guess, from 0 to 1. */
  confidence?: number;
}

/**
 * Reads the bytes once to compute their hash and to check that they are plain text. Undefined for any other type, which
 * cannot be read in sections. Errors: unsupported_file, cancelled.
 */
export async function inspectText(
  open: Opened,
  facts: { filename: string; mimeType: string; encoding?: string },
  signal: AbortSignal,
): Promise<StreamedText | undefined> {
  const hash = createHash('sha256');
  let head: Uint8Array = new Uint8Array();
  let bytes = 0;
  const statistics = new ByteStatistics();
  for await (const piece of open()) {
    if (signal.aborted) throw new MegaNestError('cancelled');
    hash.update(piece);
    bytes += piece.length;
    if (head.length < headBytes) {
      head = Buffer.concat([head, piece]);
      if (head.length >= headBytes && !isPlainText({ ...facts, bytes: head })) return undefined;
    }
    if (facts.encoding === undefined) statistics.add(piece);
  }
  const found = facts.encoding === undefined ? statistics.guess() : { encoding: facts.encoding };
  return { sha256: hash.digest('hex'), bytes, ...found };
}

/** Bytes that determine a guess. */
const sampleBytes = 512 * 1024;

/** Determines the encoding of bytes that come in pieces: UTF-8, or a guess from pieces that are not valid UTF-8. */
class ByteStatistics {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #counts = { valid: 0, damaged: 0 };
  #sample: Uint8Array = new Uint8Array();
  #isValid = true;

  add(piece: Uint8Array): void {
    this.#isValid &&= decodes(this.#decoder, piece);
    if (this.#isValid) return;
    const { valid, damaged } = countUtf8(piece);
    this.#counts.valid += valid;
    this.#counts.damaged += damaged;
    if (damaged > 0 && this.#sample.length < sampleBytes) this.#sample = Buffer.concat([this.#sample, piece]);
  }

  guess(): Pick<StreamedText, 'encoding' | 'confidence'> {
    return this.#isValid || isMostlyUtf8(this.#counts) ? { encoding: 'utf-8' } : guessEncoding(this.#sample);
  }
}

/** Errors: unsupported_file for binary data. */
function isPlainText(file: { filename: string; mimeType: string; bytes: Uint8Array }): boolean {
  // The directory of a zip archive is at its end.
  if (startsAsZip(file.bytes)) return false;
  if (detectType(file) !== 'text' || isUtf16(file.bytes)) return false;
  decodeText(file);
  return true;
}

function decodes(decoder: InstanceType<typeof TextDecoder>, piece: Uint8Array): boolean {
  try {
    decoder.decode(piece, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Splits a text into sections of about a million characters, at a blank line if possible, else at a line or a word. */
export async function* sectionsOfText(
  pieces: AsyncIterable<Uint8Array>,
  encoding: StreamedText['encoding'],
  most = sectionCharacters,
): AsyncGenerator<string, void, void> {
  const decoder = decoderOf(encoding);
  let text = '';
  for await (const piece of pieces) {
    text += decoder.decode(piece, { stream: true });
    while (text.length > most) {
      const end = borderBefore(text, most);
      yield text.slice(0, end);
      text = text.slice(end);
    }
  }
  text += decoder.decode();
  if (text) yield text;
}

/** Searches for a border in the second half, so that sections do not become small. */
function borderBefore(text: string, most: number): number {
  const part = text.slice(0, most);
  let blankLine = 0;
  for (const { index, 0: found } of part.matchAll(/\n[^\S\n]*\n/g)) blankLine = index + found.length;
  const borders = [blankLine, part.lastIndexOf('\n') + 1, part.lastIndexOf(' ') + 1];
  return borders.find((border) => border > most / 2) ?? most;
}

/** What is known of a large text as a whole. */
export function streamedFacts({
  encoding,
  confidence,
}: Pick<StreamedText, 'encoding' | 'confidence'>): Pick<
  PreparedDocument,
  'assumedEncoding' | 'facts' | 'warnings'
> {
  if (confidence === undefined) return { facts: { encoding } };
  return {
    assumedEncoding: encoding,
    facts: { encoding, encodingConfidence: confidence },
    warnings: [guessWarning({ encoding, confidence })],
  };
}

/**
 * Reads and splits the sections of a text. A section is read while the caller embeds the previous one. The title of the
 * first section is the title of all sections, and so is its date.
 */
export async function* prepareSections(
  sections: AsyncIterable<string>,
  text: Pick<StreamedText, 'encoding' | 'confidence'>,
  prepare: (section: string) => Promise<PreparedDocument>,
): AsyncGenerator<PreparedDocument, void, void> {
  let title: string | undefined;
  let date: string | undefined;
  let ahead: Promise<PreparedDocument> | undefined;
  const streamed = streamedFacts(text);
  const complete = (document: PreparedDocument): PreparedDocument => {
    title ??= document.title;
    date ??= document.date;
    return {
      ...document,
      ...streamed,
      facts: { ...document.facts, ...streamed.facts },
      ...(title && { title }),
      ...(date && { date }),
    };
  };
  let end = 0;
  for await (const section of sections) {
    const start = end;
    end += section.length;
    if (!/[\p{L}\p{N}]/u.test(section)) continue;
    const before = ahead;
    ahead = prepare(section).then((document) => placedAt(document, start));
    // The next turn awaits this promise. Until then its rejection must not count as unhandled.
    ahead.catch(() => undefined);
    if (before) yield complete(await before);
  }
  if (ahead) yield complete(await ahead);
}

function placedAt(document: PreparedDocument, start: number): PreparedDocument {
  const chunks = document.chunks.map((chunk) =>
    chunk.places ? { ...chunk, places: shiftPlaces(chunk.places, start) } : chunk,
  );
  return { ...document, chunks };
}
