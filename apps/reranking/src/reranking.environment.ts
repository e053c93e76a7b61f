import { baseEnvironmentSchema, portSchema, weightsSchema } from '#platform/service-kit';
import { z } from 'zod';

export const rerankingEnvironmentSchema = baseEnvironmentSchema.extend({
  RERANKING_PORT: portSchema.default(8000),
  /** A bundled name, a local directory or a hub id; default: the profile's model. */
  RERANK_MODEL_ID: z.string().optional(),
  /** Precision of the weights of a local model. */
  RERANKING_WEIGHTS: weightsSchema,
  /** A Text Embeddings Inference server to use in place of a local model. */
  TEI_RERANKING_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TEI_API_KEY: z.string().optional(),
});
export type RerankingEnvironment = z.infer<typeof rerankingEnvironmentSchema>;
