import { loadEmbedder, type Embedder } from '#engine/encoders';
import { openRemoteEmbedder } from '#engine/remote-engines';
import { announceModel, chosenWeights, modelOptions, type Profile } from '#platform/service-kit';
import type { EmbeddingEnvironment } from './embedding.environment.js';

/** Loads the configured model, or connects to its engine. Errors: an Error with the failed part and the reason. */
export async function openEmbedder(environment: EmbeddingEnvironment, profile: Profile): Promise<Embedder> {
  const { TEI_EMBEDDING_ENDPOINT: endpoint, TEI_API_KEY: apiKey } = environment;
  const { EMBEDDING_QUERY_PREFIX: query, EMBEDDING_DOCUMENT_PREFIX: document } = environment;
  const prefixes = { ...(query !== undefined && { query }), ...(document !== undefined && { document }) };
  const compiledWeights = chosenWeights('EMBEDDING_WEIGHTS', environment.EMBEDDING_WEIGHTS, {
    endpoint,
    device: environment.DEVICE,
  });
  if (endpoint) return openRemoteEmbedder({ endpoint, apiKey, prefixes });
  return announceModel(
    await loadEmbedder(environment.EMBEDDING_MODEL_ID ?? profile.embedding.model, {
      ...modelOptions(environment, profile, environment.EMBEDDING_MODEL_ID),
      prefixes,
      compiledWeights,
    }),
  );
}
