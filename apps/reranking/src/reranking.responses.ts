import type { rerank, ReplyOf } from '#contracts';
import { z } from 'zod';
import type { ReferenceRequest, SpecRequest, TeiRequest } from './reranking.requests.js';

/** What {@link specResponse}, {@link referenceResponse} and {@link teiResponse} make, for the OpenAPI document. */
export const specAnswer = z.object({
  query: z.string(),
  doc: z.array(z.object({ text: z.string() })),
  json_encoders: z.array(z.unknown()).optional(),
});
export const referenceAnswer = z.object({
  query: z.string(),
  documents: z.array(z.string()),
  reranked_docs: z.array(z.looseObject({ text: z.string(), score: z.number() })),
  model: z.string(),
});
export const teiAnswer = z.array(
  z.object({ index: z.int(), score: z.number(), text: z.string().optional() }),
);

type RerankReply = ReplyOf<typeof rerank>;

/** The OPEA specification's answer: the query and the best passages. */
export function specResponse({ results }: RerankReply, request: SpecRequest) {
  const { initial_query, retrieved_docs, json_encoders } = request;
  return {
    query: initial_query,
    doc: results.map(({ index }) => ({ text: retrieved_docs[index]?.text ?? '' })),
    ...(json_encoders && { json_encoders }),
  };
}

/**
 * The reference's two answers in one: `documents` for what follows in a pipeline, `reranked_docs` with scores and
 * whatever else the passages carried (id, metadata).
 */
export function referenceResponse({ results, model }: RerankReply, request: ReferenceRequest) {
  const ranked = results.map(({ index, score }) => ({ text: '', ...request.retrieved_docs[index], score }));
  return {
    query: request.initial_query,
    documents: ranked.map(({ text }) => text),
    reranked_docs: ranked,
    model,
  };
}

/** Text Embeddings Inference's answer: a bare list. */
export function teiResponse({ results }: RerankReply, { texts, raw_scores, return_text }: TeiRequest) {
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
