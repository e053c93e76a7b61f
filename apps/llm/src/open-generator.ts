import { announceModel, modelOptions, type Profile } from '#service-kit';
import { loadGenerator, type Generator } from '#generation';
import { openRemoteGenerator, type RemoteGenerator } from '#remote-engines';
import type { LlmEnvironment } from './llm.environment.js';

/** Injection token of the loaded model. */
export const generatorToken = Symbol('generator');

/** A local model, or a remote engine with a health check. */
export type LlmGenerator = Generator &
  Partial<Pick<RemoteGenerator, 'check' | 'thoughts' | 'withoutThinking'>>;

/** Loads the configured model, or connects to its engine. Errors: an Error with the failed part and the reason. */
export async function openGenerator(environment: LlmEnvironment, profile: Profile): Promise<LlmGenerator> {
  const { LLM_ENDPOINT: endpoint, LLM_API_KEY: apiKey, LLM_MODEL_ID: model } = environment;
  const { LLM_MODALITIES: modalities, LLM_CONTEXT_LENGTH: contextLength } = environment;
  checkWeights(environment);
  if (endpoint) return openRemoteGenerator({ endpoint, apiKey, model, modalities, contextLength });
  if (modalities.includes('image'))
    throw new Error('LLM_MODALITIES: image needs LLM_ENDPOINT; the input of a local model is known');
  if (contextLength !== undefined)
    throw new Error('LLM_CONTEXT_LENGTH: needs LLM_ENDPOINT; the context length of a local model is known');
  const { LLM_WEIGHTS: weights, LLM_WEIGHTS_BLOCK: block } = environment;
  const options = {
    ...modelOptions(environment, profile, model),
    weights,
    prefixCacheBytes: environment.LLM_PREFIX_CACHE_BYTES,
    kernelBytes: environment.LLM_KERNEL_BYTES,
    ...(block && ({ block: block === '32' ? 32 : 128 } as const)),
  };
  return announceModel(await loadGenerator(model ?? profile.llm.model, options));
}

/** Refuses settings of the weights that would have no effect. */
function checkWeights({ LLM_ENDPOINT, LLM_WEIGHTS, LLM_WEIGHTS_BLOCK, DEVICE }: LlmEnvironment): void {
  const isRounded = LLM_WEIGHTS === 'int4' || LLM_WEIGHTS === 'int8';
  if (LLM_ENDPOINT !== undefined && LLM_WEIGHTS !== 'auto')
    throw new Error('LLM_WEIGHTS: applies only to a local model; unset it or LLM_ENDPOINT');
  if (isRounded && (DEVICE === 'webgpu' || DEVICE === 'cuda'))
    throw new Error(`LLM_WEIGHTS: ${LLM_WEIGHTS} runs on the processor; DEVICE is ${DEVICE}`);
  if (
    LLM_WEIGHTS_BLOCK !== undefined &&
    (LLM_ENDPOINT !== undefined || LLM_WEIGHTS === 'int8' || LLM_WEIGHTS === 'fp32')
  )
    throw new Error('LLM_WEIGHTS_BLOCK: needs LLM_WEIGHTS=int4 or auto, and a local model');
}
