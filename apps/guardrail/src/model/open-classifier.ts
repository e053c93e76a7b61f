import { loadClassifier, type Classifier } from '#engine/encoders';
import { openRemoteClassifier } from '#engine/remote-engines';
import { announceModel, loadProfile, modelOptions } from '#platform/service-kit';
import type { GuardrailEnvironment } from '../guardrail.environment.js';

/**
 * Loads the configured classifier, or connects to its engine; undefined without a configured classifier. Errors: an
 * Error with the failed part and the reason.
 */
export async function openClassifier(environment: GuardrailEnvironment): Promise<Classifier | undefined> {
  const { TEI_GUARDRAIL_ENDPOINT: endpoint, TEI_API_KEY: apiKey, GUARDRAIL_MODEL_ID: model } = environment;
  if (endpoint) return openRemoteClassifier({ endpoint, apiKey });
  if (!model) return undefined;
  const options = modelOptions(environment, loadProfile(environment.MEGANEST_PROFILE), model);
  return announceModel(await loadClassifier(model, options));
}
