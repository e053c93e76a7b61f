import { baseEnvironmentSchema, portSchema, type Profile } from '#service-kit';
import { z } from 'zod';

export const rerankingEnvironmentSchema = baseEnvironmentSchema.extend({
  RERANKING_PORT: portSchema.default(8000),
  /** A bundled name, a local directory or a hub id; the profile's model otherwise. */
  RERANK_MODEL_ID: z.string().optional(),
  /** A Text Embeddings Inference server to use in place of a local model. */
  TEI_RERANKING_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TEI_API_KEY: z.string().optional(),
});
export type RerankingEnvironment = z.infer<typeof rerankingEnvironmentSchema>;

/** What the profile says about its reranker. */
export type RerankingSettings = Profile['reranking'];

/** Injection token of the {@link RerankingSettings}. */
export const rerankingSettings = Symbol('rerankingSettings');
