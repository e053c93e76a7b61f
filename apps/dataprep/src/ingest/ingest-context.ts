import { defaultCollection, invalidField, type ModelInfo } from '#contracts';
import type { ChunkingOptions } from '../chunking/chunk-document.js';
import type { TextEmbedder } from './embedding.client.js';
import type { IngestRequest } from './sources.js';

/** What holds for all documents of one request. */
export interface IngestContext {
  collection: string;
  /** Set where the collection is a vector store. */
  owner?: string;
  chunking: ChunkingOptions;
  /** The user's attributes, written to every chunk. */
  metadata: Record<string, unknown>;
  /** Id and revision: chunks of another model have to be embedded again. */
  embeddingModel: string;
  /** Embeds the texts of all documents. */
  embedder: Pick<TextEmbedder, 'embedAll'>;
  /** Longer texts are embedded in windows of this many words. */
  maxEmbeddedWords: number;
}

/** A word of ordinary text takes fewer than two tokens of any usual vocabulary. */
const tokensPerWord = 2;

/** Errors: as {@link chunkingOf}. */
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
    embeddingModel: `${model.id}@${model.revision}`,
    maxEmbeddedWords: Math.max(1, Math.floor(model.maxInputTokens / tokensPerWord)),
  };
}

/** Sizes of a request over the profile's. Errors: invalid_request when the overlap is not smaller than the chunk. */
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
