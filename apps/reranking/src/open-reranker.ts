import { join, resolve } from 'node:path';
import { loadReranker, openRemoteReranker, type Reranker } from '#inference';
import { projectRoot, type Profile } from '#service-kit';
import type { RerankingEnvironment } from './reranking.environment.js';

/** Loads the configured model, or connects to the engine that has it. Errors: says which one failed, and why. */
export function openReranker(environment: RerankingEnvironment, profile: Profile): Promise<Reranker> {
  const { TEI_RERANKING_ENDPOINT: endpoint, TEI_API_KEY: apiKey } = environment;
  if (endpoint) return openRemoteReranker({ endpoint, apiKey });
  return loadReranker(environment.RERANK_MODEL_ID ?? profile.reranking.model, {
    modelsDirectory: join(projectRoot, 'models'),
    cacheDirectory: resolve(environment.MEGANEST_DATA_DIR, 'models'),
    allowHub: profile.allowHub,
    device: environment.DEVICE,
  });
}
