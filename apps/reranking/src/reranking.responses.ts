import type { rerank, ReplyOf } from '#contracts';
import { z } from 'zod';
import type { ReferenceRequest, SpecRequest } from './reranking.requests.js';

/** What {@link specResponse} and {@link referenceResponse} make, for the OpenAPI document. */
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
