import { join, resolve } from 'node:path';
import { loadEmbedder, type Embedder } from '#inference';
import { loadProfile, projectRoot } from '#service-kit';
import type { EmbeddingEnvironment } from './embedding.environment.js';

/** Loads the configured model. Errors: says which model could not be loaded, and why. */
export function openEmbedder(environment: EmbeddingEnvironment): Promise<Embedder> {
  const profile = loadProfile(environment.MEGANEST_PROFILE);
  return loadEmbedder(environment.EMBEDDING_MODEL_ID ?? profile.embedding.model, {
    modelsDirectory: join(projectRoot, 'models'),
    cacheDirectory: resolve(environment.MEGANEST_DATA_DIR, 'models'),
    allowHub: profile.allowHub,
    device: environment.DEVICE,
  });
}
