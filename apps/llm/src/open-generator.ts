import { announceModel, modelOptions, type Profile } from '#platform/service-kit';
import { loadGenerator, type Generator } from '#engine/generation';
import { ModelLoadError } from '#engine/models';
import { openRemoteGenerator, type PooledGenerator, type RemoteGenerator } from '#engine/remote-engines';
import type { LlmEnvironment } from './llm.environment.js';

/** Injection token of the loaded model. */
export const generatorToken = Symbol('generator');

/** A local model, or a remote engine with a health check. */
export type LlmGenerator = Generator &
  Partial<Pick<RemoteGenerator, 'check' | 'thoughts' | 'withoutThinking'>> &
  Partial<Pick<PooledGenerator, 'prepare'>>;

const blockSizes = { row: 'row', '32': 32, '128': 128 } as const;

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
    ...(block && { block: blockSizes[block] }),
  };
  const generator = await loadGenerator(model ?? profile.llm.model, options);
  try {
    checkTemplate(generator);
  } catch (error) {
    await generator.close();
    throw error;
  }
  return announceModel(generator);
}

/** Each chat needs the template, so that a model without one, or with one that does not work, is refused at the start. */
function checkTemplate({ info: { id }, template }: Generator): void {
  if (!template)
    throw new ModelLoadError(
      `${id} has no chat template: it is a base model, which continues texts and does not chat. Use its form for chats (its name usually has "instruct", "chat" or "it"), or put a chat_template.jinja into its folder.`,
    );
  try {
    template.render([{ role: 'user', content: 'Hello' }]);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new ModelLoadError(`${id} cannot chat: ${detail}`, { cause: error });
  }
}

/** Refuses settings of the weights that would have no effect. */
function checkWeights({ LLM_ENDPOINT, LLM_WEIGHTS, LLM_WEIGHTS_BLOCK, DEVICE }: LlmEnvironment): void {
  const isRounded = LLM_WEIGHTS === 'int4' || LLM_WEIGHTS === 'int8';
  if (LLM_ENDPOINT !== undefined && LLM_WEIGHTS !== 'auto')
    throw new Error('LLM_WEIGHTS: applies only to a local model; unset it or LLM_ENDPOINT');
  if (isRounded && (DEVICE === 'webgpu' || DEVICE === 'cuda'))
    throw new Error(`LLM_WEIGHTS: ${LLM_WEIGHTS} runs on the processor; DEVICE is ${DEVICE}`);
  if (LLM_WEIGHTS_BLOCK !== undefined && (LLM_ENDPOINT !== undefined || LLM_WEIGHTS === 'fp32'))
    throw new Error('LLM_WEIGHTS_BLOCK: needs LLM_WEIGHTS=int4, int8 or auto, and a local model');
  if (LLM_WEIGHTS_BLOCK === 'row' && LLM_WEIGHTS === 'int4')
    throw new Error('LLM_WEIGHTS_BLOCK: row is for int8 weights; int4 has blocks of 32 or 128');
}
