import type { ModelInfo, TemplateVariables } from '#contracts';
import type { ChatCompletionRequest } from './chat-request.js';

/** Reasoning efforts that ask a model not to think. */
export const littleEffort: ReadonlySet<string> = new Set(['none', 'minimal']);

/**
 * Translates the reasoning effort of a request to variables of the model's chat template. A template without these
 * variables ignores the effort, and the effort is listed as ignored, except for `none` and `minimal`, which a model
 * that does not think follows anyway. Remote engines get both variables.
 */
export function planThinking(
  {
    reasoningEffort: effort,
    chatTemplateKwargs,
  }: Pick<ChatCompletionRequest, 'reasoningEffort' | 'chatTemplateKwargs'>,
  { templateVariables: known = ['enable_thinking', 'reasoning_effort'] }: ModelInfo,
): { kwargs?: TemplateVariables; ignored: string[] } {
  if (!effort) return { kwargs: chatTemplateKwargs, ignored: [] };
  const little = littleEffort.has(effort.value);
  const variables: TemplateVariables = {
    ...(known.includes('enable_thinking') && { enable_thinking: !little }),
    ...(known.includes('reasoning_effort') && { reasoning_effort: effort.value }),
  };
  if (Object.keys(variables).length > 0)
    return { kwargs: { ...variables, ...chatTemplateKwargs }, ignored: [] };
  return { kwargs: chatTemplateKwargs, ignored: little ? [] : [effort.field] };
}
