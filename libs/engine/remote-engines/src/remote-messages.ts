import {
  piecesOf,
  type ChatMessage,
  type ContentPiece,
  type Tool,
  type ToolChoice,
} from '#platform/contracts';
import type { GenerateRequest } from '#engine/generation';
import { wellFormed } from './remote-server.js';

/**
 * Converts a conversation to OpenAI's form. Its tool results cannot contain images: the images of consecutive results
 * follow in a user message. Reasoning of earlier turns has the field name of vLLM and similar engines.
 */
export function remoteMessages(messages: readonly ChatMessage[]): Record<string, unknown>[] {
  const sent: Record<string, unknown>[] = [];
  let shown: object[] = [];
  const show = () => {
    if (shown.length > 0) sent.push({ role: 'user', content: shown });
    shown = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') show();
    if (message.role !== 'tool' || !message.images?.length) sent.push(remoteMessage(message));
    else {
      const { content, parts } = shownApart(message, shown.length / 2);
      sent.push(remoteMessage({ ...message, content, images: undefined }));
      shown.push(...parts);
    }
  }
  show();
  return sent;
}

/** Replaces the images of a result by numbers, and returns the images with their numbers. */
function shownApart(message: ChatMessage, before: number): { content: string; parts: object[] } {
  const texts: string[] = [];
  const parts: object[] = [];
  for (const { text, image } of piecesOf(message)) {
    if (image) {
      const name = `[image ${before + parts.length / 2 + 1} of the tool results]`;
      texts.push(name);
      parts.push({ type: 'text', text: name }, imagePart(image));
    } else texts.push(text);
  }
  return { content: texts.join('\n'), parts };
}

function remoteMessage(message: ChatMessage): Record<string, unknown> {
  const { role, content, name, toolCalls, toolCallId, reasoning, images } = message;
  return {
    role,
    content: images?.length ? piecesOf(message).map(part) : content,
    ...(name !== undefined && { name }),
    ...(toolCalls?.length && {
      content: content === '' ? null : content,
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: jsonOf(call.input) },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
  };
}

function part({ text, image }: ContentPiece): object {
  return image ? imagePart(image) : { type: 'text', text };
}

function imagePart({ url, detail }: NonNullable<ChatMessage['images']>[number]): object {
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } };
}

/** Converts the tool fields of a request to OpenAI's form. A custom tool becomes a function with one text parameter. */
export function remoteTools({ tools, toolChoice, parallelToolCalls }: GenerateRequest): object {
  const names = toolChoice?.names;
  const offered = (tools ?? []).filter(({ name }) => names === undefined || names.includes(name));
  if (offered.length === 0) return {};
  return {
    tools: offered.map(remoteTool),
    tool_choice: choiceOf(toolChoice),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
  };
}

/** Parameters of the function that replaces a custom tool. */
const rawInput = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

function remoteTool(tool: Tool): object {
  const { name, description } = tool;
  const parameters = tool.type === 'function' ? tool.parameters : rawInput;
  const strict = tool.type === 'function' ? tool.strict : undefined;
  return { type: 'function', function: { name, description, parameters: parameters ?? anything, strict } };
}

const anything = { type: 'object', properties: {} };

function choiceOf(choice: ToolChoice | undefined): unknown {
  const [only, ...others] = choice?.names ?? [];
  if (choice?.mode === 'required' && only !== undefined && others.length === 0)
    return { type: 'function', function: { name: only } };
  return choice?.mode ?? 'auto';
}

/** Arguments as JSON text, without escaped surrogates that are unpaired. */
function jsonOf(input: string): string {
  try {
    const parsed: unknown = JSON.parse(input);
    return /\\ud[89a-f]/i.test(input) ? JSON.stringify(parsed, wellFormed) : input;
  } catch {
    return JSON.stringify({ input });
  }
}
