import { attributeFilterSchema } from '#platform/contracts';
import { pageShape } from '#api/openai-api';
import { metadataSchema } from '#api/responses';
import { z } from 'zod';

/** Sizes of passages in tokens, as OpenAI counts them. */
export interface ChunkTokens {
  chunkTokens: number;
  overlapTokens: number;
}

/** Injection token of the profile's sizes of passages, in words. */
export const chunkingDefaults = Symbol('chunkingDefaults');
export interface ChunkingDefaults {
  chunkSize: number;
  chunkOverlap: number;
}

/** Words per token in ordinary text: OpenAI's rule of thumb. Dataprep splits by words. */
const wordsPerToken = 0.75;

/** Strategies with OpenAI's limits. The overlap must not exceed half of the chunk. */
export const chunkingStrategySchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto') }),
  z.strictObject({
    type: z.literal('static'),
    static: z
      .strictObject({
        max_chunk_size_tokens: z.int().min(100).max(4_096),
        chunk_overlap_tokens: z.int().min(0),
      })
      .refine((sizes) => sizes.chunk_overlap_tokens * 2 <= sizes.max_chunk_size_tokens, {
        path: ['chunk_overlap_tokens'],
        message: 'must not exceed half of max_chunk_size_tokens',
      }),
  }),
]);
export type ChunkingStrategy = z.output<typeof chunkingStrategySchema>;

/** The sizes of a strategy; `auto` uses the sizes of the profile. */
export function chunkTokensOf(
  strategy: ChunkingStrategy | undefined,
  profile: ChunkingDefaults,
): ChunkTokens {
  if (strategy?.type === 'static') {
    const { max_chunk_size_tokens: chunkTokens, chunk_overlap_tokens: overlapTokens } = strategy.static;
    return { chunkTokens, overlapTokens };
  }
  return {
    chunkTokens: Math.round(profile.chunkSize / wordsPerToken),
    overlapTokens: Math.round(profile.chunkOverlap / wordsPerToken),
  };
}

/** The sizes in words, as dataprep takes them, so that no passage exceeds the requested number of tokens. */
export function chunkWordsOf({ chunkTokens, overlapTokens }: ChunkTokens) {
  return {
    chunk_size: Math.max(10, Math.floor(chunkTokens * wordsPerToken)),
    chunk_overlap: Math.floor(overlapTokens * wordsPerToken),
  };
}

const name = z.string().max(256);
const expiresAfter = z.strictObject({
  anchor: z.literal('last_active_at'),
  days: z.int().min(1).max(365),
});
const fileId = z.string().min(1).max(256);
const attributes = z
  .record(z.string().max(64), z.union([z.string().max(512), z.number(), z.boolean()]))
  .refine((value) => Object.keys(value).length <= 16, 'has more than 16 entries');
const optionalAttributes = attributes.nullish().transform((value) => value ?? {});

export const createVectorStoreSchema = z.strictObject({
  name: name.nullish(),
  description: z.string().max(2_048).nullish(),
  file_ids: z.array(fileId).max(500).default([]),
  chunking_strategy: chunkingStrategySchema.optional(),
  expires_after: expiresAfter.nullish(),
  metadata: metadataSchema.nullish().transform((value) => value ?? {}),
});
export type CreateVectorStore = z.output<typeof createVectorStoreSchema>;

/** Absent fields stay. Metadata is merged: a value of null removes its entry, and `metadata: null` removes all. */
export const updateVectorStoreSchema = z.strictObject({
  name: name.nullish(),
  expires_after: expiresAfter.nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512).nullable()).nullish(),
});
export type UpdateVectorStore = z.output<typeof updateVectorStoreSchema>;

const page = {
  ...pageShape,
  order: z.enum(['asc', 'desc']).default('desc'),
  before: z.string().optional(),
};
export const storeListQuerySchema = z.object(page);
export type StoreListQuery = z.output<typeof storeListQuerySchema>;

export const attachedListQuerySchema = z.object({
  ...page,
  filter: z.enum(['in_progress', 'completed', 'failed', 'cancelled']).optional(),
});
export type AttachedListQuery = z.output<typeof attachedListQuerySchema>;

export const attachFileSchema = z.strictObject({
  file_id: fileId,
  attributes: optionalAttributes,
  chunking_strategy: chunkingStrategySchema.optional(),
});
export type AttachFile = z.output<typeof attachFileSchema>;

/** Replaces all attributes; null removes them. */
export const updateAttributesSchema = z.strictObject({
  attributes: attributes.nullable().transform((value) => value ?? {}),
});
export type UpdateAttributes = z.output<typeof updateAttributesSchema>;

const maxBatchFiles = 2_000;
export const createBatchSchema = z
  .strictObject({
    file_ids: z.array(fileId).min(1).max(maxBatchFiles).optional(),
    files: z.array(attachFileSchema).min(1).max(maxBatchFiles).optional(),
    attributes: optionalAttributes,
    chunking_strategy: chunkingStrategySchema.optional(),
  })
  .refine((body) => (body.file_ids === undefined) !== (body.files === undefined), {
    path: ['file_ids'],
    message: 'exactly one of file_ids and files is required',
  });
export type CreateBatch = z.output<typeof createBatchSchema>;

export const rankingOptionsSchema = z.strictObject({
  ranker: z.enum(['none', 'auto', 'default-2024-11-15']).default('auto'),
  score_threshold: z.number().min(0).max(1).default(0),
  hybrid_search: z
    .strictObject({ embedding_weight: z.number().min(0), text_weight: z.number().min(0) })
    .refine((weights) => weights.embedding_weight + weights.text_weight > 0, 'one weight must be above 0')
    .optional(),
});
export type RankingOptions = z.output<typeof rankingOptionsSchema>;

const query = z.string().min(1).max(4_096);
export const maxResultsSchema = z.int().min(1).max(50).default(10);
export const searchSchema = z.strictObject({
  query: z.union([query.transform((text) => [text]), z.array(query).min(1).max(16)]),
  rewrite_query: z.boolean().default(false),
  max_num_results: maxResultsSchema,
  filters: attributeFilterSchema.nullish(),
  ranking_options: rankingOptionsSchema.default({ ranker: 'auto', score_threshold: 0 }),
});
export type SearchVectorStore = z.output<typeof searchSchema>;
