import { announceModel, loadProfile, modelOptions } from '#service-kit';
import { loadEmbedder, type Embedder } from '#encoders';
import { openRemoteEmbedder } from '#remote-engines';
import type { EmbeddingEnvironment } from './embedding.environment.js';

/** Injection token of the loaded model. */
export const embedderToken = Symbol('embedder');

/** Loads the configured model, or connects to the engine that has it. Errors: says which one failed, and why. */
export async function openEmbedder(environment: EmbeddingEnvironment): Promise<Embedder> {
  const { TEI_EMBEDDING_ENDPOINT: endpoint, TEI_API_KEY: apiKey } = environment;
  if (endpoint) return openRemoteEmbedder({ endpoint, apiKey });
  const profile = loadProfile(environment.MEGANEST_PROFILE);
  return announceModel(
    await loadEmbedder(
      environment.EMBEDDING_MODEL_ID ?? profile.embedding.model,
      modelOptions(environment, profile, environment.EMBEDDING_MODEL_ID),
    ),
  );
}
