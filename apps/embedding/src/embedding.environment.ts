import { baseEnvironmentSchema, portSchema, weightsSchema } from '#platform/service-kit';
import { z } from 'zod';

export const embeddingEnvironmentSchema = baseEnvironmentSchema.extend({
  EMBEDDING_PORT: portSchema.default(6000),
  /** A bundled name, a local directory or a hub id; default: the profile's model. */
  EMBEDDING_MODEL_ID: z.string().optional(),
  /** Precision of the weights of a local model. */
  EMBEDDING_WEIGHTS: weightsSchema,
  /** Put in front of each query and each document before it is embedded; default: what the model's files name. */
  EMBEDDING_QUERY_PREFIX: z.string().optional(),
  EMBEDDING_DOCUMENT_PREFIX: z.string().optional(),
  /** A Text Embeddings Inference server to use in place of a local model. */
  TEI_EMBEDDING_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TEI_API_KEY: z.string().optional(),
});
export type EmbeddingEnvironment = z.infer<typeof embeddingEnvironmentSchema>;
