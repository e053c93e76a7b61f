import { createHash } from 'node:crypto';
import { MegaNestError } from '#contracts';
import { decodeText, isUtf16 } from '../reading/decode-text.js';
import { detectType } from '../reading/detect-type.js';
import type { PreparedDocument } from './prepare-document.js';

/** Plain texts from this size on are read section by section: no process has them whole in memory. */
export const streamedBytes = 8 * 1024 * 1024;
/** Characters of a section. */
const sectionCharacters = 1024 * 1024;
/** What tells the type of a file. */
const headBytes = 64 * 1024;

/** Bytes that can be read several times. */
export type Opened = () => AsyncIterable<Uint8Array>;

/** A text too large to be read whole, as a first pass over its bytes found it. */
export interface StreamedText {
  sha256: string;
  bytes: number;
  /** UTF-8, or what bytes that are not UTF-8 are taken for. */
  encoding: 'utf-8' | 'windows-1252';
}

/**
 * Reads the bytes once: their hash, and whether they are plain text that can be read in sections. Undefined for any other
 * type. Errors: unsupported_file, cancelled.
 */
export async function inspectText(
  open: Opened,
  facts: { filename: string; mimeType: string },
  signal: AbortSignal,
): Promise<StreamedText | undefined> {
  const hash = createHash('sha256');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let head: Uint8Array = new Uint8Array();
  let bytes = 0;
  let encoding: StreamedText['encoding'] = 'utf-8';
  for await (const piece of open()) {
    if (signal.aborted) throw new MegaNestError('cancelled');
    hash.update(piece);
    bytes += piece.length;
    if (head.length < headBytes) {
      head = Buffer.concat([head, piece]);
      if (head.length >= headBytes && !isPlainText({ ...facts, bytes: head })) return undefined;
    }
    if (encoding === 'utf-8' && !decodes(decoder, piece)) encoding = 'windows-1252';
  }
  return { sha256: hash.digest('hex'), bytes, encoding };
}

/** Errors: unsupported_file for binary data. */
function isPlainText(file: { filename: string; mimeType: string; bytes: Uint8Array }): boolean {
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

/** Cuts a text into sections of about a million characters, at a blank line where there is one, else at a line or a word. */
export async function* sectionsOfText(
  pieces: AsyncIterable<Uint8Array>,
  encoding: StreamedText['encoding'],
  most = sectionCharacters,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder(encoding);
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

/** In the second half, so that sections do not become small. */
function borderBefore(text: string, most: number): number {
  const part = text.slice(0, most);
  let blankLine = 0;
  for (const { index, 0: found } of part.matchAll(/\n[^\S\n]*\n/g)) blankLine = index + found.length;
  const borders = [blankLine, part.lastIndexOf('\n') + 1, part.lastIndexOf(' ') + 1];
  return borders.find((border) => border > most / 2) ?? most;
}

/**
 * The sections of a text, each read and cut; one is read while the one before it is embedded. The first section has the title
 * of all.
 */
export async function* prepareSections(
  sections: AsyncIterable<string>,
  { encoding }: Pick<StreamedText, 'encoding'>,
  prepare: (section: string) => Promise<PreparedDocument>,
): AsyncGenerator<PreparedDocument, void, void> {
  let title: string | undefined;
  let ahead: Promise<PreparedDocument> | undefined;
  const complete = (document: PreparedDocument): PreparedDocument => {
    title ??= document.title;
    const assumedEncoding = encoding === 'utf-8' ? undefined : encoding;
    return { ...document, ...(title && { title }), ...(assumedEncoding && { assumedEncoding }) };
  };
  for await (const section of sections) {
    if (!/[\p{L}\p{N}]/u.test(section)) continue;
    const before = ahead;
    ahead = prepare(section);
    // It is awaited in the next turn; until then its failure must not count as unhandled.
    ahead.catch(() => undefined);
    if (before) yield complete(await before);
  }
  if (ahead) yield complete(await ahead);
}
