import { parseOrThrow, rerankingParametersSchema } from '#contracts';
import { rerankRequestSchema } from '#openai-api';
import { z } from 'zod';

const passage = z.union(
  [z.string().transform((text) => ({ text })), z.looseObject({ text: z.string() })],
  'must be a string or an object with a text',
);
const passages = z.array(passage).max(1000);
const query = z.string().min(1, 'must not be empty');

const opeaShape = {
  ...rerankingParametersSchema.shape,
  retrieved_docs: passages,
  model: z.string().optional(),
};

/** The OPEA specification's body of `/v1/rag_reranking`; `json_encoders` is an accident of the reference, echoed. */
export const specRequestSchema = z.object({
  ...opeaShape,
  initial_query: query,
  json_encoders: z.array(z.unknown()).optional(),
});
export type SpecRequest = z.output<typeof specRequestSchema>;

/** The reference implementation's body of `/v1/reranking`: the query is `initial_query` or `input`. */
export const referenceRequestSchema = z
  .object({ ...opeaShape, initial_query: query.optional(), input: query.optional() })
  .transform(({ initial_query, input, ...rest }, context) => {
    const given = initial_query ?? input;
    if (given !== undefined) return { ...rest, initial_query: given };
    context.addIssue({ code: 'custom', path: ['initial_query'], message: 'is required' });
    return z.NEVER;
  });
export type ReferenceRequest = z.output<typeof referenceRequestSchema>;

/** Text Embeddings Inference's body of `/rerank`. */
export const teiRequestSchema = z.object({
  query,
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
export type TeiRequest = z.output<typeof teiRequestSchema>;

/** `/rerank` serves two families of clients: TEI's send `texts`, Cohere's and Jina's send `documents`. */
export const plainRequestSchema = z
  .looseObject({})
  .transform((body) => parseOrThrow('documents' in body ? rerankRequestSchema : teiRequestSchema, body));
export type PlainRequest = z.output<typeof plainRequestSchema>;
