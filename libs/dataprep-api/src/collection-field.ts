import { ingestParametersSchema, isVectorStore } from '#contracts';

/** The name of a collection, as callers may give it: those of vector stores belong to their owners. */
export const collectionField = ingestParametersSchema.shape.collection.refine(
  (name) => name === undefined || !isVectorStore(name),
  'collections of vector stores are reached through /v1/vector_stores',
);
