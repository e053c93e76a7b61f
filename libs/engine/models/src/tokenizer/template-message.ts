import { piecesOf, type ChatMessage } from '#platform/contracts';

/** A message as chat templates read it: OpenAI's names, with the arguments of calls as values rather than text. */
export interface TemplateMessage {
  role: string;
  /** A text; or texts and images in their order, where the template wants parts or the turn has images. */
  content: string | TemplatePart[];
  name?: string;
  tool_calls?: {
    id: string;
    type: 'function';
    function: { name: string; arguments: unknown };
  }[];
  tool_call_id?: string;
  reasoning_content?: string;
}

/** A part of a message. The template writes a mark in the place of an image. */
export type TemplatePart = { type: 'text'; text: string } | { type: 'image' };

/** True for a template that reads parts of contents, and does not read a text in their place. */
export function needsParts(template: string): boolean {
  const readsImages = /type['"]?\]?\s*==\s*['"]image['"]/.test(template);
  return readsImages && !/\bis\s+string\b/.test(template);
}

/** Parts of a message, at least one. */
function partsOf(message: ChatMessage): TemplatePart[] {
  const parts = piecesOf(message).map(({ text, image }): TemplatePart =>
    image ? { type: 'image' } : { type: 'text', text },
  );
  return parts.length > 0 ? parts : [{ type: 'text', text: '' }];
}

/** Templates of open models support `system`; `developer` is OpenAI's newer name for the same role. */
export function templateMessage(
  message: ChatMessage,
  { wantsParts = false }: { wantsParts?: boolean } = {},
): TemplateMessage {
  const { role, content, name, toolCalls, toolCallId, reasoning, images = [] } = message;
  return {
    role: role === 'developer' ? 'system' : role,
    content: wantsParts || images.length > 0 ? partsOf(message) : content,
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

/** Templates write arguments as JSON. An input that is not JSON is the raw input of a custom tool. */
function argumentsOf(input: string): unknown {
  try {
    return JSON.parse(input === '' ? '{}' : input);
  } catch {
    return { input };
  }
}
