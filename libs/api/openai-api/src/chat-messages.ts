import {
  attachedFileOf,
  joinPieces,
  MegaNestError,
  piecesOf,
  type ChatContent,
  type ChatMessage,
  type ContentPiece,
  type ToolCall,
  invalidField,
} from '#platform/contracts';
import { z } from 'zod';

/** Longer conversations and messages are refused before their elements are read. */
const maxMessages = 5_000;
const maxParts = 2_000;

const textPart = z.looseObject({
  type: z.enum(['text', 'refusal']),
  text: z.string().optional(),
  refusal: z.string().optional(),
});
const otherPart = z.looseObject({ type: z.string() });
const content = z.union(
  [
    z.string(),
    z
      .array(z.union([textPart, otherPart]))
      .min(1)
      .max(maxParts, `must have at most ${maxParts} parts`),
  ],
  'must be a string or an array of parts',
);

const functionCall = z.looseObject({ name: z.string().min(1), arguments: z.string() });
const toolCall = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('function'), id: z.string().min(1), function: functionCall }),
  z.looseObject({
    type: z.literal('custom'),
    id: z.string().min(1),
    custom: z.looseObject({ name: z.string().min(1), input: z.string() }),
  }),
]);

const message = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
    content: content.nullish(),
    name: z.string().nullish(),
    tool_calls: z.array(toolCall).nullish(),
    tool_call_id: z.string().min(1).nullish(),
    /** Deprecated form of `tool_calls`. */
    function_call: functionCall.nullish(),
    /** The model's reasoning, under the name that vLLM, DeepSeek and SGLang use; other servers call it `reasoning`. */
    reasoning_content: z.string().nullish(),
    reasoning: z.string().nullish().catch(null),
  })
  .superRefine(({ role, tool_call_id: id }, context) => {
    if (role === 'tool' && !id)
      context.addIssue({ code: 'custom', path: ['tool_call_id'], message: 'is required in a tool message' });
  });

/** A conversation in OpenAI's format, or a plain string for one user turn, as OPEA's callers send it. */
export const messagesSchema = z
  .union(
    [
      z.string().min(1),
      z.array(message).min(1).max(maxMessages, `must have at most ${maxMessages} messages`),
    ],
    'must be a string or a non-empty array of messages',
  )
  .transform((value): WireMessage[] =>
    typeof value === 'string' ? [{ role: 'user', content: value }] : value,
  );
type WireMessage = z.output<typeof message>;

/**
 * Reduces a conversation to text turns with images among the text. Errors: unsupported_parameter for parts of other
 * kinds.
 */
export function toChatMessages(messages: readonly WireMessage[], path = 'messages'): ChatMessage[] {
  // A deprecated function message answers the call before it, which had no id.
  let lastFunctionCall: string | undefined;
  return messages.map((item, index) => {
    const calls = callsOf(item, index);
    if (item.function_call) lastFunctionCall = calls[0]?.id;
    const reasoning = item.reasoning_content ?? item.reasoning;
    const toolCallId = item.role === 'function' ? lastFunctionCall : item.tool_call_id;
    return {
      role: item.role === 'function' ? ('tool' as const) : item.role,
      ...toContent(item.content, { role: item.role, path: `${path}[${index}].content` }),
      ...(typeof item.name === 'string' && { name: item.name }),
      ...(calls.length > 0 && { toolCalls: calls }),
      ...(typeof toolCallId === 'string' && { toolCallId }),
      ...(typeof reasoning === 'string' && reasoning !== '' && { reasoning }),
    };
  });
}

/** Converts a turn to OpenAI's format. The content is a text, or parts if there are images. */
export function wireMessage({
  toolCalls,
  toolCallId,
  reasoning,
  images,
  files: _files,
  ...message
}: ChatMessage) {
  return {
    ...message,
    ...(images && { content: piecesOf({ content: message.content, images }).map(wirePart) }),
    ...(toolCalls && {
      tool_calls: toolCalls.map(({ id, name, input }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: input },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
  };
}

function wirePart({ text, image }: ContentPiece) {
  if (!image) return { type: 'text', text };
  const { url = '', detail } = image;
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } };
}

function callsOf({ tool_calls: calls, function_call: legacy }: WireMessage, index: number): ToolCall[] {
  if (legacy) return [{ id: `call_${index}`, name: legacy.name, input: legacy.arguments }];
  return (calls ?? []).map((call) =>
    call.type === 'function'
      ? { id: call.id, name: call.function.name, input: call.function.arguments }
      : { id: call.id, name: call.custom.name, input: call.custom.input },
  );
}

interface ContentPlace {
  role: WireMessage['role'];
  path: string;
}

function toContent(value: WireMessage['content'], { role, path }: ContentPlace): ChatContent {
  if (value === null || value === undefined) return { content: '' };
  if (typeof value === 'string') return { content: value };
  return joinPieces(
    value.map((part, index): ContentPiece => {
      const place = `${path}[${index}]`;
      const image = showing.has(role) ? imageOf(part, place) : undefined;
      return image ? { image } : { text: partText(part, place), file: attachedFileOf(part) };
    }),
  );
}

/** Roles whose content may contain images. */
const showing: ReadonlySet<string> = new Set(['user', 'tool']);

type ChatImage = NonNullable<ChatMessage['images']>[number];

const imagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: z.string().min(1), detail: z.string().nullish() }),
});

/** A later step checks whether the model accepts images. Errors: invalid_request for an image without a URL. */
function imageOf(part: Record<string, unknown>, param: string): ChatImage | undefined {
  if (part['type'] !== 'image_url') return undefined;
  const parsed = imagePart.safeParse(part);
  if (!parsed.success) {
    throw invalidField(`${param}.image_url.url`, 'is required and must be a string');
  }
  const { url, detail } = parsed.data.image_url;
  return { url, param, ...(typeof detail === 'string' && { detail }) };
}

function partText(part: Record<string, unknown>, path: string): string {
  const text = part['text'] ?? part['refusal'];
  if (typeof text === 'string' && (part['type'] === 'text' || part['type'] === 'refusal')) return text;
  const detail = `${path}: parts of type ${JSON.stringify(part['type'])} are not supported here`;
  throw new MegaNestError('unsupported_parameter', { detail, param: path });
}
