import { MegaNestError } from '#contracts';

/** What a block of a document is; chunking never crosses a heading and keeps rows and list items whole. */
export type BlockKind = 'heading' | 'paragraph' | 'list-item' | 'table-row' | 'code';

/** A piece of a document in reading order. Its text has single spaces, except `code`, which keeps its lines. */
export interface DocumentBlock {
  kind: BlockKind;
  /** Depth of a heading: 1 is the outermost. */
  level?: number;
  /** A heading without text, which ends those of its depth. */
  ends?: boolean;
  text: string;
  /** Page it starts on, from 1; paged formats only. */
  page?: number;
}

/** A file reduced to text with its structure. */
export interface ParsedDocument {
  title?: string;
  blocks: DocumentBlock[];
  /** The encoding that was guessed because the bytes are not valid UTF-8. */
  assumedEncoding?: string;
}

/** A file as it came in: its bytes, and what its sender says of it. */
export interface SourceFile {
  bytes: Uint8Array;
  filename: string;
  /** The sender's claim; empty when there is none. */
  mimeType: string;
  /** A web server's Content-Type says more than a URL's last letters; an uploader's less than the file's name. */
  fromWeb?: boolean;
}

/** Bounds that keep a hostile or broken file from taking the service down. */
export interface ReadingLimits {
  /** Most pages of a PDF. */
  maxPages: number;
  /** Most bytes that a packed format (docx) may unpack to. */
  maxUnpackedBytes: number;
  /** Most characters of text; far less than the largest upload holds. */
  maxCharacters: number;
}

export const defaultReadingLimits: ReadingLimits = {
  maxPages: 2_000,
  maxUnpackedBytes: 256 * 1024 * 1024,
  maxCharacters: 100_000_000,
};

/** The 400 for a file that cannot be read; `detail` ends the sentence "The file x cannot be read: …". */
export function unsupportedFile(filename: string, detail: string, cause?: unknown): MegaNestError {
  return new MegaNestError('unsupported_file', { file: filename, detail, param: 'files', cause });
}

/** Runs a parser; whatever it throws becomes `unsupported_file` that names the file and the format. */
export async function readingAs<Result>(
  filename: string,
  format: string,
  read: () => Promise<Result> | Result,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MegaNestError) throw error;
    const reason = error instanceof RangeError ? 'it is nested too deeply' : messageOf(error);
    throw unsupportedFile(filename, `it is no valid ${format} (${reason})`, error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Rows of a table, the headers in the first one, as blocks that make sense alone: `header: value; header: value`. Empty
 * cells are left out; without headers the cells are joined. A table of headers only gives them as its one row.
 */
export function tableRows([headers = [], ...rows]: string[][]): DocumentBlock[] {
  const body =
    rows.length > 0 ? rows.map((row) => rowText(headers, row)) : [headers.map(collapseWhitespace).join('; ')];
  return body.filter(Boolean).map((text) => ({ kind: 'table-row', text }));
}

function rowText(headers: string[], row: string[]): string {
  return row
    .map((cell, index) => labelled(collapseWhitespace(headers[index] ?? ''), collapseWhitespace(cell)))
    .filter(Boolean)
    .join('; ');
}

function labelled(header: string, value: string): string {
  return header && value ? `${header}: ${value}` : value;
}

/** Control characters that are no whitespace, soft hyphens and zero-width spaces: they carry no text. */
const controlCharacters = /[^\P{Cc}\s]|[\u00ad\u200b]/gu;

/** One line of text: every run of whitespace becomes one space; invisible characters go. */
export function collapseWhitespace(text: string): string {
  return text.replaceAll(controlCharacters, '').replaceAll(/\s+/g, ' ').trim();
}

/** Text whose lines matter (code): line ends are unified, trailing blanks and empty edge lines go. */
export function tidyLines(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(controlCharacters, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
}
