import { resolve } from 'node:path';
import { loadReranker, type Reranker } from '#inference';
import type { Profile } from '#service-kit';
import type { RerankingEnvironment } from './reranking.environment.js';

/** Loads the configured model. Errors: says which model could not be loaded, and why. */
export function openReranker(environment: RerankingEnvironment, profile: Profile): Promise<Reranker> {
  return loadReranker(environment.RERANK_MODEL_ID ?? profile.reranking.model, {
    cacheDirectory: resolve(environment.MEGANEST_DATA_DIR, 'models'),
    allowHub: profile.allowHub,
    device: environment.DEVICE,
  });
}
