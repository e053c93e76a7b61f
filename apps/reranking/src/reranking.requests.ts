import { rerankingParametersSchema, type ReplyOf, type rerank } from '#platform/contracts';
import { checkLength, rerankQuerySchema } from '#api/openai-api';
import { z } from 'zod';

const passage = z.union(
  [
    z.string().transform((text): { text: string; score?: unknown } => ({ text })),
    z.looseObject({ text: z.string(), score: z.unknown().optional() }),
  ],
  'must be a string or an object with a text',
);
const passages = z
  .array(passage)
  .max(1000)
  .superRefine((given, context) =>
    checkLength(
      given.map(({ text }) => text),
      context,
    ),
  );
const query = rerankQuerySchema;

const opeaShape = {
  ...rerankingParametersSchema.shape,
  retrieved_docs: passages,
  model: z.string().nullish(),
};

/** The OPEA specification's body of `/v1/rag_reranking`. `json_encoders`, a mistake of the reference, is echoed. */
export const specRequestSchema = z.object({
  ...opeaShape,
  initial_query: query,
  json_encoders: z.array(z.unknown()).optional(),
});
export type SpecRequest = z.output<typeof specRequestSchema>;

/**
 * The reference implementation's body of `/v1/reranking`: the query is `initial_query` or `input`, `top_n` is 1 by
 * default.
 */
export const referenceRequestSchema = z
  .object({
    ...opeaShape,
    top_n: opeaShape.top_n.default(1),
    initial_query: query.optional(),
    input: query.optional(),
  })
  .transform(({ initial_query, input, ...rest }, context) => {
    const given = initial_query ?? input;
    if (given !== undefined) return { ...rest, initial_query: given };
    context.addIssue({ code: 'custom', path: ['initial_query'], message: 'is required' });
    return z.NEVER;
  });
export type ReferenceRequest = z.output<typeof referenceRequestSchema>;

/** Schemas of {@link specResponse} and {@link referenceResponse} for the OpenAPI document. */
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
 * Both answers of the reference in one: `documents` for the next step of a pipeline, and `reranked_docs` with the
 * scores and the other fields of the passages (id, metadata).
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
