import { baseEnvironmentSchema, databaseEnvironmentSchema, portSchema } from '#platform/service-kit';
import { z } from 'zod';

export const retrievalEnvironmentSchema = baseEnvironmentSchema.extend({
  ...databaseEnvironmentSchema.shape,
  RETRIEVAL_PORT: portSchema.default(7000),
});
export type RetrievalEnvironment = z.infer<typeof retrievalEnvironmentSchema>;
