import { defaultCollection, embeddingModelName, invalidField, type ModelInfo } from '#platform/contracts';
import type { ChunkingOptions } from '../chunking/chunk-document.js';
import { encodingName } from '../reading/encodings/encodings.js';
import type { SourceFile } from '../reading/parsed-document.js';
import type { TextEmbedder } from './embedding.client.js';
import type { IngestRequest } from './sources.js';

/** Settings for all documents of one request. */
export interface IngestContext {
  collection: string;
  /** Owner of the vector store, if the collection is a vector store. */
  owner?: string;
  chunking: ChunkingOptions;
  /** How the sender wants documents to be read. */
  reading: Pick<SourceFile, 'encoding' | 'keepRevisions'>;
  /** The user's attributes, written to every chunk. */
  metadata: Record<string, unknown>;
  /** Id and revision of the model. Chunks from another model must be embedded again. */
  embeddingModel: string;
  /** Embeds the texts of all documents. */
  embedder: Pick<TextEmbedder, 'embedAll'>;
  /** Longer texts are embedded in windows of this many words. */
  maxEmbeddedWords: number;
}

/** An ordinary word takes fewer than two tokens in common vocabularies. */
const tokensPerWord = 2;

/** Errors: the errors of {@link chunkingOf}. */
export function ingestContext(
  request: IngestRequest,
  defaults: ChunkingOptions,
  { model, embedder }: { model: ModelInfo; embedder: TextEmbedder },
): IngestContext {
  return {
    embedder,
    collection: request.collection ?? defaultCollection,
    owner: request.owner,
    chunking: chunkingOf(request, defaults),
    metadata: request.metadata ?? {},
    reading: readingOf(request),
    embeddingModel: embeddingModelName(model),
    maxEmbeddedWords: maxEmbeddedWordsOf(model),
  };
}

/** Longer texts are embedded in windows of this many words. */
export function maxEmbeddedWordsOf({ maxInputTokens }: Pick<ModelInfo, 'maxInputTokens'>): number {
  return Math.max(1, Math.floor(maxInputTokens / tokensPerWord));
}

function readingOf({ encoding, keep_revisions }: IngestRequest): IngestContext['reading'] {
  const name = encoding === undefined ? undefined : encodingName(encoding);
  return {
    ...(name !== undefined && { encoding: name }),
    ...(keep_revisions === true && { keepRevisions: true }),
  };
}

/**
 * Chunk size and overlap: from the request, else from the profile. Errors: invalid_request if the overlap is not
 * smaller than the chunk size.
 */
export function chunkingOf(
  { chunk_size, chunk_overlap }: IngestRequest,
  defaults: ChunkingOptions,
): ChunkingOptions {
  const chunkSize = chunk_size ?? defaults.chunkSize;
  if (chunk_overlap !== undefined && chunk_overlap >= chunkSize) {
    throw invalidField(
      'chunk_overlap',
      `${chunk_overlap} is not smaller than the chunk size of ${chunkSize} words`,
    );
  }
  return { chunkSize, chunkOverlap: chunk_overlap ?? Math.min(defaults.chunkOverlap, chunkSize - 1) };
}
