import { parseOrThrow, type rerank, type ReplyOf } from '#contracts';
import { z } from 'zod';
import { rerankQuerySchema, rerankRequestSchema } from './reranking.js';

/** Text Embeddings Inference's body of `/rerank`. */
export const teiRerankRequestSchema = z.object({
  query: rerankQuerySchema,
  texts: z.array(z.string()).min(1).max(1000),
  /** Logits in place of probabilities. */
  raw_scores: z.boolean().default(false),
  return_text: z.boolean().default(false),
  /** False: a passage that is longer than the model takes is an error, and none is cut as the profile says. */
  truncate: z.boolean().default(true),
  truncation_direction: z
    .literal(['right', 'Right'], 'Passages too long for the model are cut at their end.')
    .optional(),
});
export type TeiRerankRequest = z.output<typeof teiRerankRequestSchema>;

/** `/rerank` serves two families of clients: TEI's send `texts`, Cohere's and Jina's send `documents`. */
export const plainRerankRequestSchema = z
  .looseObject({})
  .transform((body) =>
    parseOrThrow('documents' in body ? rerankRequestSchema : teiRerankRequestSchema, body),
  );
export type PlainRerankRequest = z.output<typeof plainRerankRequestSchema>;

/** What {@link teiRerankResponse} makes, for the OpenAPI document. */
export const teiRerankAnswerSchema = z.array(
  z.object({ index: z.int(), score: z.number(), text: z.string().optional() }),
);

/** The call of the reranking service that a body asks for: the scores of the model alone, for all texts. */
export function teiRerankCall({ query, texts, truncate }: TeiRerankRequest) {
  return { query, texts, truncate, top_n: texts.length, fusion: 'none' as const };
}

/** Text Embeddings Inference's answer: a bare list. */
export function teiRerankResponse(
  { results }: ReplyOf<typeof rerank>,
  { texts, raw_scores, return_text }: TeiRerankRequest,
): z.output<typeof teiRerankAnswerSchema> {
  return results.map(({ index, score }) => ({
    index,
    score: raw_scores ? logit(score) : score,
    ...(return_text && { text: texts[index] }),
  }));
}

/** The inverse of the sigmoid; kept finite where Float64 has rounded a probability to 0 or 1. */
function logit(probability: number): number {
  const inside = Math.min(Math.max(probability, Number.MIN_VALUE), 1 - Number.EPSILON / 2);
  return Math.log(inside) - Math.log1p(-inside);
}
