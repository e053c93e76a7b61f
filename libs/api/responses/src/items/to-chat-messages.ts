import {
  attachedFileOf,
  invalidField,
  joinPieces,
  MegaNestError,
  type ChatContent,
  type ChatMessage,
  type ContentPiece,
  type ToolCall,
} from '#platform/contracts';
import { modelToolName } from '../tools/tools.js';
import type { StoredItem } from './input-items.js';

/** The conversation of a list of items, in the format of the language model. */
export interface Conversation {
  messages: ChatMessage[];
  /** Types of items that a text model cannot use, e.g. the reasoning of another model. */
  skippedTypes: string[];
}

/** The use of images: passed to the model, described in words, or refused with the kinds of input that it accepts. */
export type ImageUse = 'take' | 'describe' | { refuse: readonly string[] };

export interface ChatMessagesOptions {
  /** Returns the path of an item, for error messages. */
  pathOf?: (index: number) => string;
  /** Default: refused, because the model accepts only text. */
  images?: ImageUse;
}

/**
 * Reduces items to turns; files must have been read before. Consecutive calls, with the text and the reasoning before
 * them, are one turn of the assistant.
 * Errors: unsupported_parameter for parts that the model cannot read, with the kinds of input that it accepts.
 */
export function toChatMessages(
  items: readonly StoredItem[],
  { pathOf = (index) => `input[${index}]`, images = textOnly }: ChatMessagesOptions = {},
): Conversation {
  const messages: ChatMessage[] = [];
  const skippedTypes: string[] = [];
  let reasoning = '';
  for (const [index, item] of items.entries()) {
    if (handledElsewhere.has(item.type)) {
      if (item.type === 'mcp_call') messages.push(...mcpCallMessages(item));
      continue;
    }
    const thought = item.type === 'reasoning' ? thoughtOf(item) : '';
    const call = callOf(item);
    const message = call ? undefined : toChatMessage(item, pathOf(index), images);
    if (call) addCall(messages, call, reasoning);
    else if (message) messages.push(withReasoning(message, reasoning));
    else if (thought === '') skippedTypes.push(item.type);
    reasoning = thought;
  }
  return { messages, skippedTypes };
}

const textOnly: ImageUse = { refuse: ['text'] };

function addCall(messages: ChatMessage[], call: ToolCall, reasoning: string): void {
  const last = messages.at(-1);
  if (last?.role === 'assistant' && reasoning === '') last.toolCalls = [...(last.toolCalls ?? []), call];
  else messages.push(withReasoning({ role: 'assistant', content: '', toolCalls: [call] }, reasoning));
}

function withReasoning(message: ChatMessage, reasoning: string): ChatMessage {
  return message.role === 'assistant' && reasoning !== '' ? { ...message, reasoning } : message;
}

function thoughtOf(item: StoredItem): string {
  const parts = [item['content'], item['summary']].find((list) => Array.isArray(list) && list.length > 0);
  return ((parts ?? []) as { text?: unknown }[])
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('\n');
}

/** Items that are not turns: the tools of the server use them. */
const handledElsewhere: ReadonlySet<string> = new Set([
  'mcp_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'additional_tools',
]);

/** A call that the server ran, and its result. */
function mcpCallMessages(item: StoredItem): ChatMessage[] {
  const { id, name, arguments: input, output, error } = item;
  const content = typeof output === 'string' ? output : `The call failed: ${JSON.stringify(error ?? null)}`;
  return [
    { role: 'assistant', content: '', toolCalls: [{ id, name: String(name), input: String(input) }] },
    { role: 'tool', content, toolCallId: id },
  ];
}

function toChatMessage(item: StoredItem, path: string, use: ImageUse): ChatMessage | undefined {
  if (item.type === 'message') {
    const role = item['role'] as ChatMessage['role'];
    const asked = use === 'take' && role !== 'user' ? { refuse: [] } : use;
    return { role, ...contentOf(item['content'], `${path}.content`, asked) };
  }
  if (!item.type.endsWith('_call_output')) return undefined;
  // The model has called the tool: a text describes the images that it cannot read, so that the conversation can
  // continue.
  const shown = outputOf(item, path, use === 'take' ? use : 'describe');
  if (typeof item['call_id'] !== 'string') return namedOutput(item, shown);
  return { role: 'tool', ...shown, toolCallId: item['call_id'] };
}

/** An output without a call: the model reads it as a text of the user. */
function namedOutput({ name, namespace }: StoredItem, { content, ...rest }: ChatContent): ChatMessage {
  const tool = modelToolName(String(name), typeof namespace === 'string' ? namespace : undefined);
  const heading = `[${tool}]\n`;
  const images = rest.images?.map((image) => ({
    ...image,
    at: (image.at ?? content.length) + heading.length,
  }));
  return { role: 'user', content: heading + content, ...(images && { images }) };
}

/** A call that the caller ran: of a function, a custom tool, or another type with its own type of output. */
function callOf(item: StoredItem): ToolCall | undefined {
  const { type, call_id: id, name, namespace, arguments: json, input, action } = item;
  if (!type.endsWith('_call') || typeof id !== 'string') return undefined;
  const given = json ?? input ?? JSON.stringify(action ?? {});
  const group = typeof namespace === 'string' ? namespace : undefined;
  return {
    id,
    name: modelToolName(typeof name === 'string' ? name : type.slice(0, -'_call'.length), group),
    input: typeof given === 'string' ? given : JSON.stringify(given),
  };
}

function outputOf({ output }: StoredItem, path: string, use: ImageUse): ChatContent {
  if (typeof output === 'string') return { content: output };
  if (Array.isArray(output)) return contentOf(output, `${path}.output`, use);
  return { content: JSON.stringify(output ?? '') };
}

type Part = Record<string, unknown>;
const isImage = ({ type }: Part) => type === 'input_image';

function contentOf(content: unknown, path: string, use: ImageUse): ChatContent {
  if (typeof content === 'string') return { content };
  return joinPieces(
    (content as Part[]).map((part, index): ContentPiece => {
      const place = `${path}[${index}]`;
      return use === 'take' && isImage(part)
        ? { image: imageOf(part, place) }
        : { text: partText(part, place, use), file: attachedFileOf(part) };
    }),
  );
}

/** Errors: invalid_request for an image without a source. */
function imageOf({ image_url: url, detail }: Part, param: string): NonNullable<ContentPiece['image']> {
  if (typeof url === 'string') return { url, param, ...(typeof detail === 'string' && { detail }) };
  throw invalidField(param, 'needs image_url or file_id');
}

function partText(part: Part, path: string, use: ImageUse): string {
  const { type } = part;
  if (isImage(part) && use === 'describe') return describeImage(part);
  if (type === 'input_text' || type === 'output_text' || type === 'text') return String(part['text']);
  if (type === 'refusal') return String(part['refusal']);
  const reason = isImage(part) ? whyNot(use) : 'parts may be input_text, input_image and input_file';
  const detail = `${path}: ${JSON.stringify(type)} is not supported here: ${reason}`;
  throw new MegaNestError('unsupported_parameter', { detail, param: path });
}

function whyNot(use: ImageUse): string {
  const read = typeof use === 'object' ? use.refuse : ['text'];
  if (read.length > 0) return `the model's input is ${read.join(' and ')} only`;
  return 'images belong in the turns of the user and the outputs of tools';
}

const maxUrlLength = 200;

/** An `input_image` part in words, for a model that takes text only: `[image: image/png, 470 bytes]`. */
export function describeImage({ image_url: url, file_id: id }: Record<string, unknown>): string {
  if (typeof url === 'string') return `[image: ${url.startsWith('data:') ? describeData(url) : cut(url)}]`;
  return `[image: ${typeof id === 'string' ? cut(id) : 'without content'}]`;
}

function describeData(url: string): string {
  const [head = '', data = ''] = url.slice('data:'.length).split(',', 2);
  const type = head.split(';')[0] ?? '';
  const bytes = Buffer.byteLength(data, head.endsWith(';base64') ? 'base64' : 'utf8');
  return `${type === '' ? 'of unknown type' : cut(type)}, ${bytes} bytes`;
}

function cut(text: string): string {
  return text.length > maxUrlLength ? `${text.slice(0, maxUrlLength)}…` : text;
}
