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

/** Words that a token stands for in ordinary text: OpenAI's own rule of thumb. Dataprep cuts by words. */
const wordsPerToken = 0.75;

/** As OpenAI bounds them. The overlap may not exceed half of the chunk. */
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

/** What a strategy comes to; `auto` is what the profile's models want. */
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

/** The same sizes as dataprep takes them: in words, so that no passage has more tokens than was asked for. */
export function chunkWordsOf({ chunkTokens, overlapTokens }: ChunkTokens) {
  return {
    chunk_size: Math.max(10, Math.floor(chunkTokens * wordsPerToken)),
    chunk_overlap: Math.floor(overlapTokens * wordsPerToken),
  };
}
