import { z } from 'zod';
import { defineMethod, describeMethod, modelInfoSchema } from './method.js';

export const rerankingParametersSchema = z.object({
  top_n: z.int().min(1).max(1000).optional().describe('Passages to keep'),
  fusion: z
    .enum(['none', 'rrf', 'scores'])
    .optional()
    .describe(
      'How to fuse the ranking of the reranker with the ranking of the search. rrf: by the order of the input; scores: by the scores of the search; none: the ranking of the reranker only',
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
    /** False: a passage that is too long for the model is an error; true: the model's profile says how it is cut. */
    truncate: z.boolean().optional(),
    model: z.string().optional(),
  }),
  reply: z.object({
    model: z.string(),
    /** score: the sigmoid of the model's logit, or the fused score; relevance: always the sigmoid of the logit. */
    results: z.array(z.object({ index: z.int(), score: z.number(), relevance: z.number().optional() })),
    promptTokens: z.int(),
  }),
});

export const describeRerankingModel = describeMethod('reranking', modelInfoSchema);
