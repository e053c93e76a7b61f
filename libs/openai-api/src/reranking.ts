import { MegaNestError, type rerank, type ReplyOf } from '#contracts';
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

export interface RerankResponse {
  id: string;
  model: string;
  results: { index: number; relevance_score: number; document?: { text: string } }[];
  usage: { prompt_tokens: number; total_tokens: number };
}

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
