import { announceModel, modelOptions, type Profile } from '#service-kit';
import { loadGenerator, type Generator } from '#generation';
import { openRemoteGenerator, type RemoteGenerator } from '#remote-engines';
import type { LlmEnvironment } from './llm.environment.js';

/** A local model, or a remote engine, which can be asked whether it is there. */
export type LlmGenerator = Generator & Partial<Pick<RemoteGenerator, 'check'>>;

/** Loads the configured model, or connects to the engine that has it. Errors: says which one failed, and why. */
export async function openGenerator(environment: LlmEnvironment, profile: Profile): Promise<LlmGenerator> {
  const { LLM_ENDPOINT: endpoint, LLM_API_KEY: apiKey, LLM_MODEL_ID: model } = environment;
  const { LLM_MODALITIES: modalities, LLM_CONTEXT_LENGTH: contextLength } = environment;
  if (endpoint) return openRemoteGenerator({ endpoint, apiKey, model, modalities, contextLength });
  if (modalities.includes('image'))
    throw new Error('LLM_MODALITIES: image needs LLM_ENDPOINT; models that run here read text');
  if (contextLength !== undefined)
    throw new Error('LLM_CONTEXT_LENGTH: needs LLM_ENDPOINT; a model that runs here says it itself');
  const options = modelOptions(environment, profile, model);
  const prefixCacheBytes = environment.LLM_PREFIX_CACHE_BYTES;
  return announceModel(await loadGenerator(model ?? profile.llm.model, { ...options, prefixCacheBytes }));
}
