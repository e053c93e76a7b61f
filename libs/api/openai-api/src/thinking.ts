import type { ModelInfo, TemplateVariables } from '#platform/contracts';
import type { ChatCompletionRequest } from './chat-request.js';

/** Reasoning efforts that ask a model not to think. */
export const littleEffort: ReadonlySet<string> = new Set(['none', 'minimal']);

/**
 * Translates the reasoning effort of a request to variables of the model's chat template. A template without these
 * variables ignores the effort, and the effort is listed as ignored, except for `none` and `minimal`, which a model
 * that does not think follows anyway. Remote engines get both variables. Variables of the request that the template does
 * not read are listed, too.
 */
export function planThinking(
  {
    reasoningEffort: effort,
    chatTemplateKwargs,
  }: Pick<ChatCompletionRequest, 'reasoningEffort' | 'chatTemplateKwargs'>,
  { templateVariables: read }: Pick<ModelInfo, 'templateVariables'>,
): { kwargs?: TemplateVariables; ignored: string[] } {
  const unread = read ? Object.keys(chatTemplateKwargs ?? {}).filter((name) => !read.includes(name)) : [];
  const unused = unread.map((name) => `chat_template_kwargs.${name}`);
  if (!effort) return { kwargs: chatTemplateKwargs, ignored: unused };
  const known = read ?? ['enable_thinking', 'reasoning_effort'];
  const little = littleEffort.has(effort.value);
  const variables: TemplateVariables = {
    ...(known.includes('enable_thinking') && { enable_thinking: !little }),
    ...(known.includes('reasoning_effort') && { reasoning_effort: effort.value }),
  };
  if (Object.keys(variables).length > 0)
    return { kwargs: { ...variables, ...chatTemplateKwargs }, ignored: unused };
  return { kwargs: chatTemplateKwargs, ignored: [...unused, ...(little ? [] : [effort.field])] };
}
