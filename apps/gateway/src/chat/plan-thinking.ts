import type { ModelInfo, TemplateVariables } from '#contracts';
import type { ChatCompletionRequest } from '#openai-api';

/** Efforts that ask a model not to think. */
export const littleEffort: ReadonlySet<string> = new Set(['none', 'minimal']);

/**
 * What a request's effort comes to for a model: the variables of its chat template. Where the template knows none of them
 * the effort is ignored, and said to be; a model that cannot think does as it is told by "none". Remote engines get both.
 */
export function planThinking(
  { reasoningEffort: effort, chatTemplateKwargs }: ChatCompletionRequest,
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
