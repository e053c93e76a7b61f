import { rerankingParametersSchema } from '#contracts';
import { rerankQuerySchema } from '#openai-api';
import { z } from 'zod';

const passage = z.union(
  [
    z.string().transform((text): { text: string; score?: unknown } => ({ text })),
    z.looseObject({ text: z.string(), score: z.unknown().optional() }),
  ],
  'must be a string or an object with a text',
);
const passages = z.array(passage).max(1000);
const query = rerankQuerySchema;

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

/** The reference implementation's body of `/v1/reranking`: the query is `initial_query` or `input`, `top_n` is 1 by default. */
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
