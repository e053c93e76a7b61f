import type { ErrorBody, ReadingReport } from '#platform/contracts';
import { chunkDocument, type ChunkingOptions, type DocumentChunk } from '../chunking/chunk-document.js';
import type { SourceFile, ParsedDocument, ReadingFacts, ReadingWarning } from '../reading/parsed-document.js';
import { readDocument } from '../reading/read-document.js';

/** A document split into passages. Plain data, so that a message between processes can contain it. */
export interface PreparedDocument {
  title?: string;
  date?: string;
  /** The encoding that was guessed because the bytes are not valid UTF-8. */
  assumedEncoding?: string;
  facts?: ReadingFacts;
  warnings?: ReadingWarning[];
  chunks: DocumentChunk[];
}

/** Reads and splits a file. Errors: unsupported_file. */
export async function prepareDocument(
  file: SourceFile,
  chunking: ChunkingOptions,
): Promise<PreparedDocument> {
  const { blocks, ...facts } = await readDocument(file);
  return { ...facts, chunks: chunkDocument({ blocks }, chunking) };
}

/** What was read of a document, for its sender. */
export function reportOf({
  facts,
  warnings = [],
}: Pick<PreparedDocument, 'facts' | 'warnings'>): ReadingReport {
  const read = Object.entries(facts ?? {}).filter(([, value]) => value !== undefined);
  return {
    ...(read.length > 0 && { read: Object.fromEntries(read) }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Task of a reader process. Without `chunking` the document is read but not split. */
export interface PreparationTask {
  file: SourceFile;
  chunking?: ChunkingOptions;
}

/** The answer of a reader process to a task. */
export type PreparationOutcome = { document: PreparedDocument | ParsedDocument } | { error: ErrorBody };

/** The first message of a reader process: it is ready for tasks. */
/** Message from a reader process before each page that it reads as a picture: a page takes seconds. */
export const scannedPage = 'scanned page';
/** Processor time for such a page, on top of the limit of the document. */
export const scannedPageMs = 15_000;

export const readerReady = 'ready';
