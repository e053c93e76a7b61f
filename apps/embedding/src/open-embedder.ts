import { join, resolve } from 'node:path';
import { loadEmbedder, openRemoteEmbedder, type Embedder } from '#inference';
import { loadProfile, projectRoot } from '#service-kit';
import type { EmbeddingEnvironment } from './embedding.environment.js';

/** Loads the configured model, or connects to the engine that has it. Errors: says which one failed, and why. */
export function openEmbedder(environment: EmbeddingEnvironment): Promise<Embedder> {
  const { TEI_EMBEDDING_ENDPOINT: endpoint, TEI_API_KEY: apiKey } = environment;
  if (endpoint) return openRemoteEmbedder({ endpoint, apiKey });
  const profile = loadProfile(environment.MEGANEST_PROFILE);
  return loadEmbedder(environment.EMBEDDING_MODEL_ID ?? profile.embedding.model, {
    modelsDirectory: join(projectRoot, 'models'),
    cacheDirectory: resolve(environment.MEGANEST_DATA_DIR, 'models'),
    allowHub: profile.allowHub,
    device: environment.DEVICE,
  });
}
