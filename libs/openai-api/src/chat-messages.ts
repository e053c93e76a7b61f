import { MegaNestError, type ChatMessage } from '#contracts';
import { z } from 'zod';

const textPart = z.looseObject({
  type: z.enum(['text', 'refusal']),
  text: z.string().optional(),
  refusal: z.string().optional(),
});
const otherPart = z.looseObject({ type: z.string() });
const content = z.union(
  [z.string(), z.array(z.union([textPart, otherPart])).min(1)],
  'must be a string or an array of parts',
);

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: content.nullish(),
  name: z.string().optional(),
});

/** A conversation as OpenAI writes it; a plain string is one user turn, as OPEA's callers write it. */
export const messagesSchema = z
  .union([z.string().min(1), z.array(message).min(1)], 'must be a string or a non-empty array of messages')
  .transform((value) => (typeof value === 'string' ? [{ role: 'user' as const, content: value }] : value));
type WireMessage = z.output<typeof messagesSchema>[number];

/** Reduces a conversation to text turns. Errors: unsupported_parameter for parts that are not text. */
export function toChatMessages(messages: readonly WireMessage[], path = 'messages'): ChatMessage[] {
  return messages.map((item, index) => ({
    role: item.role === 'function' ? ('tool' as const) : item.role,
    content: toText(item.content, `${path}.${index}.content`),
    ...(typeof item.name === 'string' && { name: item.name }),
  }));
}

function toText(value: WireMessage['content'], path: string): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return value.map((part, index) => partText(part, `${path}.${index}`)).join('\n');
}

function partText(part: Record<string, unknown>, path: string): string {
  const text = part['text'] ?? part['refusal'];
  if (typeof text === 'string' && (part['type'] === 'text' || part['type'] === 'refusal')) return text;
  const detail = `${path}: parts of type ${JSON.stringify(part['type'])} are not supported; the model takes text only`;
  throw new MegaNestError('unsupported_parameter', { detail, param: path });
}
