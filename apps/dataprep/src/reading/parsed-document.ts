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
