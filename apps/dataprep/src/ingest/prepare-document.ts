import type { ErrorBody, IngestProgress, ReadingReport } from '#platform/contracts';
import { chunkDocument, type ChunkingOptions, type DocumentChunk } from '../chunking/chunk-document.js';
import { withPlaces } from '../chunking/places-in-text.js';
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
  return splitDocument(await readDocument(file), chunking);
}

/** Splits a document that was read. */
export function splitDocument(
  { blocks, text, ...facts }: ParsedDocument,
  chunking: ChunkingOptions,
): PreparedDocument {
  const chunks = chunkDocument({ blocks }, chunking);
  return { ...facts, chunks: text === undefined ? chunks : withPlaces(text, chunks) };
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

/** Progress within a document that takes long: pages of a PDF or a scan, seconds of a recording. */
export type ReadingPart = NonNullable<IngestProgress['part']>;
export type OnPart = (part: ReadingPart) => void;

/** Task of a reader process. Without `chunking` the document is read but not split. */
export interface PreparationTask {
  file: SourceFile;
  chunking?: ChunkingOptions;
}

/** The answer of a reader process to a task. */
export type PreparationOutcome = { document: PreparedDocument | ParsedDocument } | { error: ErrorBody };

/** The first message of a reader process: it is ready for tasks. */
export const readerReady = 'ready';
/** Processor time for a page that is read as a picture, on top of the limit of the document. */
export const scannedPageMs = 15_000;

/** Further messages of a reader process: a page begins that is read as a picture; the progress; the end of the task. */
export type ReaderMessage = 'scanned page' | { part: ReadingPart } | PreparationOutcome;
