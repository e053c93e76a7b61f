import type { ChatMessage } from '#contracts';
import type { ChatCompletionRequest } from '#openai-api';
import type { ResponseRequest } from '#responses';

/** The generation that a request for a response asks for, without its tools: those are opened when it begins. */
export function chatRequestOf(request: ResponseRequest, messages: ChatMessage[]): ChatCompletionRequest {
  const { settings, parameters, model, extra, chatTemplateKwargs, stream } = request;
  const { effort } = settings.reasoning;
  const labels = labelsOf(settings);
  return {
    messages,
    model,
    parameters,
    extra,
    parallelToolCalls: settings.parallel_tool_calls,
    ...(chatTemplateKwargs && { chatTemplateKwargs }),
    ...(effort !== null && { reasoningEffort: { value: effort, field: 'reasoning.effort' } }),
    ...(Object.keys(labels).length > 0 && { labels }),
    stream,
    includeUsage: true,
  };
}

function labelsOf({
  user,
  safety_identifier,
  prompt_cache_key,
}: ResponseRequest['settings']): NonNullable<ChatCompletionRequest['labels']> {
  return {
    ...(user !== undefined && { user }),
    ...(safety_identifier !== null && { safety_identifier }),
    ...(prompt_cache_key !== null && { prompt_cache_key }),
  };
}
