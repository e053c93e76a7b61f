import { baseEnvironmentSchema, portSchema } from '#service-kit';
import { z } from 'zod';

export const embeddingEnvironmentSchema = baseEnvironmentSchema.extend({
  EMBEDDING_PORT: portSchema.default(6000),
  /** A bundled name, a local directory or a hub id; the profile's model otherwise. */
  EMBEDDING_MODEL_ID: z.string().optional(),
  /** A Text Embeddings Inference server to use in place of a local model. */
  TEI_EMBEDDING_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TEI_API_KEY: z.string().optional(),
});
export type EmbeddingEnvironment = z.infer<typeof embeddingEnvironmentSchema>;
