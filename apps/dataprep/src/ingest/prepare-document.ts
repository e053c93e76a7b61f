import { chunkDocument, type ChunkingOptions, type DocumentChunk } from '../chunking/chunk-document.js';
import type { SourceFile } from '../reading/parsed-document.js';
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
