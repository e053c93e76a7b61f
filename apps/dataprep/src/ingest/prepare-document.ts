import type { ErrorBody } from '#contracts';
import { chunkDocument, type ChunkingOptions, type DocumentChunk } from '../chunking/chunk-document.js';
import type { SourceFile, ParsedDocument } from '../reading/parsed-document.js';
import { readDocument } from '../reading/read-document.js';

/** A document cut into passages; plain data, so that it can cross threads. */
export interface PreparedDocument {
  title?: string;
  /** The encoding that was guessed because the bytes are not valid UTF-8. */
  assumedEncoding?: string;
  chunks: DocumentChunk[];
}

/** Reads a file and cuts it. Errors: unsupported_file. */
export async function prepareDocument(
  file: SourceFile,
  chunking: ChunkingOptions,
): Promise<PreparedDocument> {
  const { blocks, ...facts } = await readDocument(file);
  return { ...facts, chunks: chunkDocument({ blocks }, chunking) };
}

/** What a reader process is given; without `chunking` the document is read and not cut. */
export interface PreparationTask {
  file: SourceFile;
  chunking?: ChunkingOptions;
}

/** The one message that it answers a task with. */
export type PreparationOutcome = { document: PreparedDocument | ParsedDocument } | { error: ErrorBody };

/** Its first message: it is ready for tasks. */
export const readerReady = 'ready';

/** What a reader process may use; more ends it. */
export interface ReaderLimits {
  /** Resident memory of the whole process, buffers included. */
  maxMemoryBytes: number;
}
