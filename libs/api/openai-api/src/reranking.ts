import { MegaNestError, parseOrThrow, tooLongToRank, type ReplyOf, type rerank } from '#platform/contracts';
import { z } from 'zod';

const document = z.union(
  [z.string(), z.looseObject({ text: z.string() }).transform(({ text }) => text)],
  'must be a string or an object with a text',
);

/** An issue for documents that are too long together. */
export function checkLength(texts: readonly string[], context: z.RefinementCtx): void {
  const problem = tooLongToRank(texts);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
}

/** The query that passages are ranked for. */
export const rerankQuerySchema = z.string().min(1, 'must not be empty');

/** The body of `POST /v1/rerank` in the format of Jina, Cohere and vLLM; documents are reduced to their texts. */
export const rerankRequestSchema = z.object({
  model: z.string().nullish(),
  query: rerankQuerySchema,
  documents: z.array(document).min(1).max(1000).superRefine(checkLength),
  /** Absent, or vLLM's default of 0: all documents. */
  top_n: z.int().min(0).nullish(),
  return_documents: z.boolean().nullish(),
});
export type RerankRequest = z.output<typeof rerankRequestSchema>;

/** The answer of `/v1/rerank` in the format of Jina and vLLM. */
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

/** The call of the reranking service for a body: the model's own scores, of all documents unless top_n is set. */
export function rerankCall({ model, query, documents, top_n }: RerankRequest) {
  return {
    query,
    texts: documents,
    model: model ?? undefined,
    top_n: top_n || documents.length,
    fusion: 'none' as const,
  };
}

/** The answer in the format of Jina and vLLM, best first; it has the documents unless the caller declines them. */
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

/** The body of `/rerank` in the format of Text Embeddings Inference. */
export const teiRerankRequestSchema = z.object({
  query: rerankQuerySchema,
  texts: z.array(z.string()).min(1).max(1000).superRefine(checkLength),
  /** Return logits instead of probabilities. */
  raw_scores: z.boolean().default(false),
  return_text: z.boolean().default(false),
  /** False: a passage that is too long for the model is an error; true: the model's profile says how it is cut. */
  truncate: z.boolean().default(true),
  truncation_direction: z
    .literal(
      ['right', 'Right'],
      'must be right: passages that are too long for the model are cut at their end',
    )
    .optional(),
});
export type TeiRerankRequest = z.output<typeof teiRerankRequestSchema>;

/** `/rerank` serves two kinds of clients: clients of TEI send `texts`, clients of Cohere and Jina send `documents`. */
export const plainRerankSchema = z
  .looseObject({})
  .transform((body) =>
    parseOrThrow('documents' in body ? rerankRequestSchema : teiRerankRequestSchema, body),
  );
export type PlainRerankRequest = z.output<typeof plainRerankSchema>;

/** The schema of {@link teiRerankResponse}, for the OpenAPI document. */
export const teiRerankAnswerSchema = z.array(
  z.object({ index: z.int(), score: z.number(), text: z.string().optional() }),
);

/** The operation of `/rerank` in the OpenAPI documents. */
export const plainRerankOperation = {
  summary: 'Rerank in the format of Text Embeddings Inference (texts) or of Cohere (documents)',
  body: z.union([teiRerankRequestSchema, rerankRequestSchema]),
  answer: z.union([teiRerankAnswerSchema, rerankResponseSchema]),
};

/** The call of the reranking service for a body: the model's own scores, for all texts. */
export function teiRerankCall({ query, texts, truncate }: TeiRerankRequest) {
  return { query, texts, truncate, top_n: texts.length, fusion: 'none' as const };
}

/** The answer in the format of Text Embeddings Inference: a plain list. */
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

/** The inverse of the sigmoid; finite even if Float64 has rounded a probability to 0 or 1. */
function logit(probability: number): number {
  const inside = Math.min(Math.max(probability, Number.MIN_VALUE), 1 - Number.EPSILON / 2);
  return Math.log(inside) - Math.log1p(-inside);
}
