import { announceModel, modelOptions, type Profile } from '#service-kit';
import { loadReranker, type Reranker } from '#encoders';
import { openRemoteReranker } from '#remote-engines';
import type { RerankingEnvironment } from './reranking.environment.js';

/** Injection token of the loaded model. */
export const rerankerToken = Symbol('reranker');

/** Loads the configured model, or connects to the engine that has it. Errors: says which one failed, and why. */
export async function openReranker(environment: RerankingEnvironment, profile: Profile): Promise<Reranker> {
  const { TEI_RERANKING_ENDPOINT: endpoint, TEI_API_KEY: apiKey } = environment;
  if (endpoint) return openRemoteReranker({ endpoint, apiKey });
  return announceModel(
    await loadReranker(
      environment.RERANK_MODEL_ID ?? profile.reranking.model,
      modelOptions(environment, profile, environment.RERANK_MODEL_ID),
    ),
  );
}
