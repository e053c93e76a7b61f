import { MegaNestError, type ChatMessage } from '#contracts';
import type { StoredItem } from './input-items.js';
import { readInputFile } from './read-input-file.js';

/** The conversation that items amount to, as the language model takes it. */
export interface Conversation {
  messages: ChatMessage[];
  /** Types of items that say nothing to a text model, e.g. reasoning of another one. */
  skippedTypes: string[];
}

/**
 * Reduces items to text turns. Tool calls and their outputs are told as text, so that a model without a tool template
 * still knows what happened. `pathOf` names an item for error messages.
 * Errors: unsupported_parameter for parts that are not text, naming what the model takes.
 */
export function toChatMessages(
  items: readonly StoredItem[],
  pathOf: (index: number) => string = (index) => `input.${index}`,
): Conversation {
  const conversation: Conversation = { messages: [], skippedTypes: [] };
  for (const [index, item] of items.entries()) {
    const message = toChatMessage(item, pathOf(index));
    if (message) conversation.messages.push(message);
    else conversation.skippedTypes.push(item.type);
  }
  return conversation;
}

function toChatMessage(item: StoredItem, path: string): ChatMessage | undefined {
  if (item.type === 'message')
    return {
      role: item['role'] as ChatMessage['role'],
      content: contentText(item['content'], `${path}.content`),
    };
  if (item.type.endsWith('_call_output')) return { role: 'tool', content: outputTextOf(item, path) };
  const { name, arguments: json, input } = item as { name?: unknown; arguments?: unknown; input?: unknown };
  const given = json ?? input;
  if (typeof name !== 'string' || typeof given !== 'string') return undefined;
  return { role: 'assistant', content: JSON.stringify({ name, arguments: parsedOrText(given) }) };
}

function outputTextOf({ output }: StoredItem, path: string): string {
  if (typeof output === 'string') return output;
  return Array.isArray(output) ? contentText(output, `${path}.output`) : JSON.stringify(output ?? '');
}

function contentText(content: unknown, path: string): string {
  if (typeof content === 'string') return content;
  const parts = content as Record<string, unknown>[];
  return parts.map((part, index) => partText(part, `${path}.${index}`)).join('\n');
}

function partText(part: Record<string, unknown>, path: string): string {
  const { type } = part;
  if (type === 'input_text' || type === 'output_text' || type === 'text') return String(part['text']);
  if (type === 'refusal') return String(part['refusal']);
  if (type === 'input_file') return readInputFile(part, path);
  const detail = `${path}: parts of type ${JSON.stringify(type)} are not supported; this model takes text only`;
  throw new MegaNestError('unsupported_parameter', { detail, param: path });
}

function parsedOrText(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
