import { loadReranker, type Reranker } from '#engine/encoders';
import { openRemoteReranker } from '#engine/remote-engines';
import { announceModel, chosenWeights, modelOptions, type Profile } from '#platform/service-kit';
import type { RerankingEnvironment } from './reranking.environment.js';

/** Loads the configured model, or connects to its engine. Errors: an Error with the failed part and the reason. */
export async function openReranker(environment: RerankingEnvironment, profile: Profile): Promise<Reranker> {
  const { TEI_RERANKING_ENDPOINT: endpoint, TEI_API_KEY: apiKey } = environment;
  const compiledWeights = chosenWeights('RERANKING_WEIGHTS', environment.RERANKING_WEIGHTS, {
    endpoint,
    device: environment.DEVICE,
  });
  if (endpoint) return openRemoteReranker({ endpoint, apiKey });
  return announceModel(
    await loadReranker(environment.RERANK_MODEL_ID ?? profile.reranking.model, {
      ...modelOptions(environment, profile, environment.RERANK_MODEL_ID),
      compiledWeights,
    }),
  );
}
