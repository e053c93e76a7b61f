import { z } from 'zod';
import { defineMethod, describeMethod, modelInfoSchema } from './method.js';

export const rerankingParametersSchema = z.object({
  top_n: z.int().min(1).max(1000).optional().describe('Passages to keep'),
  fusion: z
    .enum(['none', 'rrf', 'scores'])
    .optional()
    .describe(
      'How the ranking of the reranker is fused with that of the search: rrf by the order of the input, scores by the scores of the search; none trusts the reranker alone',
    ),
});
export type RerankingParameters = z.infer<typeof rerankingParametersSchema>;

/** `reranking.rerank`: scores of passages for a query, best first; `index` points into the request's passages. */
export const rerank = defineMethod({
  service: 'reranking',
  method: 'rerank',
  request: rerankingParametersSchema.extend({
    query: z.string().min(1),
    texts: z.array(z.string()).max(1000),
    /** Scores of the search, one for each text; required by fusion `scores`. */
    scores: z.array(z.number()).max(1000).optional(),
    /** False: a passage that is longer than the model takes is an error, and none is cut as the profile says. */
    truncate: z.boolean().optional(),
    model: z.string().optional(),
  }),
  reply: z.object({
    model: z.string(),
    /** score: the model's logit through a sigmoid, or the fused score; relevance: always the former. */
    results: z.array(z.object({ index: z.int(), score: z.number(), relevance: z.number().optional() })),
    promptTokens: z.int(),
  }),
});

export const describeRerankingModel = describeMethod('reranking', modelInfoSchema);
