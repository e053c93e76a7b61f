import { MegaNestError, parseOrThrow, type ReplyOf, type rerank } from '#contracts';
import { z } from 'zod';

const document = z.union(
  [z.string(), z.looseObject({ text: z.string() }).transform(({ text }) => text)],
  'must be a string or an object with a text',
);

/** What passages are ordered by. */
export const rerankQuerySchema = z.string().min(1, 'must not be empty');

/** The body of `POST /v1/rerank` as Jina, Cohere and vLLM know it; documents are reduced to their texts. */
export const rerankRequestSchema = z.object({
  model: z.string().nullish(),
  query: rerankQuerySchema,
  documents: z.array(document).min(1).max(1000),
  /** All of them where it is absent. */
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
});
export type RerankRequest = z.output<typeof rerankRequestSchema>;

/** Jina's and vLLM's answer of `/v1/rerank`. */
export const rerankResponseSchema = z.object({
  id: z.string(),
  model: z.string(),
  results: z.array(
    z.object({
      index: z.int(),
      relevance_score: z.number(),
      document: z.object({ text: z.string() }).optional(),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});
export type RerankResponse = z.infer<typeof rerankResponseSchema>;

/** The call of the reranking service that a body asks for: the model's own scores, all documents unless top_n says. */
export function rerankCall({ model, query, documents, top_n }: RerankRequest) {
  return {
    query,
    texts: documents,
    model: model ?? undefined,
    top_n: top_n ?? documents.length,
    fusion: 'none' as const,
  };
}

/** The answer of Jina's and vLLM's APIs, best first; documents come along unless the caller declines them. */
export function rerankResponse(
  reply: ReplyOf<typeof rerank>,
  request: RerankRequest,
  requestId: string,
): RerankResponse {
  const results = reply.results.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(request.return_documents !== false && { document: { text: documentAt(request, index) } }),
  }));
  const { model, promptTokens } = reply;
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return { id: `rerank-${requestId}`, model, results, usage };
}

function documentAt({ documents }: RerankRequest, index: number): string {
  const text = documents[index];
  if (text !== undefined) return text;
  throw new MegaNestError('bad_upstream', { service: 'reranking', detail: `there is no document ${index}` });
}

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
export const plainRerankSchema = z
  .looseObject({})
  .transform((body) =>
    parseOrThrow('documents' in body ? rerankRequestSchema : teiRerankRequestSchema, body),
  );
export type PlainRerankRequest = z.output<typeof plainRerankSchema>;

/** What {@link teiRerankResponse} makes, for the OpenAPI document. */
export const teiRerankAnswerSchema = z.array(
  z.object({ index: z.int(), score: z.number(), text: z.string().optional() }),
);

/** What the OpenAPI documents say of `/rerank`. */
export const plainRerankOperation = {
  summary: 'Rerank as Text Embeddings Inference (texts) or as Cohere (documents)',
  body: z.union([teiRerankRequestSchema, rerankRequestSchema]),
  answer: z.union([teiRerankAnswerSchema, rerankResponseSchema]),
};

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
