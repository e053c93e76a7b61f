import { announceModel, loadProfile, modelOptions } from '#service-kit';
import { loadClassifier, type Classifier } from '#encoders';
import { openRemoteClassifier } from '#remote-engines';
import type { GuardrailEnvironment } from '../guardrail.environment.js';

/** Injection token of the loaded classifier; undefined where none is configured. */
export const classifierToken = Symbol('classifier');

/**
 * Loads the configured classifier, or connects to the engine that has it; undefined where none is configured. Errors: says
 * which one failed, and why.
 */
export async function openClassifier(environment: GuardrailEnvironment): Promise<Classifier | undefined> {
  const { TEI_GUARDRAIL_ENDPOINT: endpoint, TEI_API_KEY: apiKey, GUARDRAIL_MODEL_ID: model } = environment;
  if (endpoint) return openRemoteClassifier({ endpoint, apiKey });
  if (!model) return undefined;
  const options = modelOptions(environment, loadProfile(environment.MEGANEST_PROFILE), model);
  return announceModel(await loadClassifier(model, options));
}
