import { MegaNestError, type TimeSpan } from '#platform/contracts';

/**
 * Kind of a block. Chunking never crosses a heading, and keeps rows, list items and form fields whole. A note belongs to
 * the block before it; a caption belongs to a table or a picture; a figure has the text in a picture.
 */
export type BlockKind =
  'heading' | 'paragraph' | 'list-item' | 'table-row' | 'code' | 'note' | 'caption' | 'form-field' | 'figure';

/** A piece of a document in reading order. Its text has single spaces, except `code`, which keeps its lines. */
export interface DocumentBlock {
  kind: BlockKind;
  /** Depth of a heading: 1 is the outermost. */
  level?: number;
  /** A heading without text, which closes the open headings of its level and below. */
  ends?: boolean;
  text: string;
  /** Page it starts on, from 1; paged formats only. */
  page?: number;
  /** What its page is called, where that is not its number: `iv`, `A-3`. */
  pageLabel?: string;
  /** When it is said, in seconds from the beginning; recordings only. */
  time?: TimeSpan;
  /** The first row of a table. */
  startsTable?: true;
  /** Path of a picture whose text is read later. */
  picture?: string;
}

/** A part of a document that was not read, or not read for certain. */
export interface ReadingWarning {
  /** A word for programs, like `encoding_guessed`. */
  code: WarningCode;
  /** A sentence for the user, which names the part. */
  message: string;
}

export type WarningCode =
  | 'encoding_guessed'
  | 'damaged_text'
  | 'attachment_skipped'
  | 'formula_without_value'
  | 'hidden_part'
  | 'picture_skipped'
  | 'entry_skipped'
  | 'include_skipped'
  | 'part_unreadable';

/** What was read of a document. */
export interface ReadingFacts {
  /** Name of the encoding of a text. */
  encoding?: string;
  /** Confidence in a guessed encoding, from 0 to 1. */
  encodingConfidence?: number;
  /** Pages or slides with text. */
  pages?: number;
  /** Pages that were read as pictures. */
  ocrPages?: number;
  /** Pictures within a document whose text was read. */
  ocrPictures?: number;
  sheets?: number;
  tables?: number;
  /** Pictures whose text was not read. */
  pictures?: number;
  attachments?: number;
  mails?: number;
  /** Files of an archive that were read. */
  files?: number;
  /** Length of a recording. */
  seconds?: number;
  /** Language of a recording. */
  language?: string;
  /** The model that transcribed a recording. */
  transcribedBy?: string;
}

/** A file reduced to text with its structure. */
export interface ParsedDocument {
  title?: string;
  /** What the document says about its date: a day in ISO form, or a text with a year. */
  date?: string;
  blocks: DocumentBlock[];
  /** The encoding that was guessed because the bytes are not valid UTF-8. */
  assumedEncoding?: string;
  facts?: ReadingFacts;
  warnings?: ReadingWarning[];
  /** The decoded text of a file that is text. */
  text?: string;
}

/** A received file: its bytes, and the sender's information about it. */
export interface SourceFile {
  bytes: Uint8Array;
  filename: string;
  /** MIME type from the sender; empty if the sender did not give one. */
  mimeType: string;
  /** Encoding of a text, from the sender. */
  encoding?: string;
  /** Keeps struck-out, deleted, inserted and hidden text, with marks; it is left out otherwise. */
  keepRevisions?: boolean;
  /**
   * True for a fetched page. Its Content-Type counts more than its extension; for an upload the extension counts more.
   */
  fromWeb?: boolean;
}

/** What the sender wants of the text of a document. */
export type ReadingOptions = Pick<SourceFile, 'keepRevisions'>;

/** Reads a file that is a part of another one. Errors: unsupported_file. */
export type PartReader = (part: SourceFile) => Promise<ParsedDocument>;

/** Limits that protect the service from hostile or damaged files. */
export interface ReadingLimits {
  /** Limit for the pages of a PDF. */
  maxPages: number;
  /** Limit for the unpacked bytes of a packed format (docx). */
  maxUnpackedBytes: number;
  /** Limit for the characters of text; far less than the largest upload may contain. */
  maxCharacters: number;
  /** Limit for the pages that are read as pictures, which takes seconds for each. */
  maxScannedPages?: number;
}

export const defaultMaxScannedPages = 200;

export const defaultReadingLimits: ReadingLimits = {
  maxPages: 2_000,
  maxUnpackedBytes: 256 * 1024 * 1024,
  maxCharacters: 100_000_000,
};

/** The error (400) for a file that cannot be read. `detail` ends the sentence "The file x cannot be read: …". */
export function unsupportedFile(filename: string, detail: string, cause?: unknown): MegaNestError {
  return new MegaNestError('unsupported_file', { file: filename, detail, param: 'files', cause });
}

/** Runs a parser. Each of its errors becomes `unsupported_file`, which names the file and the format. */
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
    throw unsupportedFile(filename, `it is not a valid ${format} (${reason})`, error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Characters without text: control characters other than whitespace, soft hyphens and zero-width spaces. */
const controlCharacters = /[^\P{Cc}\s]|[\u00ad\u200b]/gu;

/** Returns one line of text: replaces each run of whitespace with one space, and removes invisible characters. */
export function collapseWhitespace(text: string): string {
  return text.replaceAll(controlCharacters, '').replaceAll(/\s+/g, ' ').trim();
}

/** Normalizes line ends of code, and removes trailing blanks and empty lines at the beginning and the end. */
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
