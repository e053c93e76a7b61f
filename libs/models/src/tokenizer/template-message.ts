import type { ChatMessage } from '#contracts';

/** A turn as chat templates read it: OpenAI's names, and the arguments of calls as values rather than text. */
export interface TemplateMessage {
  role: string;
  content: string;
  name?: string;
  tool_calls?: {
    id: string;
    type: 'function';
    function: { name: string; arguments: unknown };
  }[];
  tool_call_id?: string;
  reasoning_content?: string;
}

/** Templates of open models know `system`; `developer` is OpenAI's later name for the same turn. */
export function templateMessage(message: ChatMessage): TemplateMessage {
  const { role, content, name, toolCalls, toolCallId, reasoning } = message;
  return {
    role: role === 'developer' ? 'system' : role,
    content,
    ...(name !== undefined && { name }),
    ...(toolCalls?.length && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: 'function' as const,
        function: { name: call.name, arguments: argumentsOf(call.input) },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
  };
}

/** Templates write arguments as JSON; what is no JSON is the raw input of a custom tool. */
function argumentsOf(input: string): unknown {
  try {
    return JSON.parse(input === '' ? '{}' : input);
  } catch {
    return { input };
  }
}
