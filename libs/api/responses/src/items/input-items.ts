import { invalidField } from '#platform/contracts';
import { z } from 'zod';
import { newItemId, type ResponseTool } from '../response-object.js';
import { delegate, toolSchema } from '../tools/tools.js';

/** An item as it is stored and listed: always with type and id, and with status if its type has one. */
export interface StoredItem {
  type: string;
  id: string;
  [field: string]: unknown;
}

/** An item as the client sent it: an `item_reference` still points to another item. */
export type InputItem = StoredItem;

const text = z.string().max(10_485_760);
/** Ids are indexed, so they have a limit. */
const itemId = z.string().min(1).max(256);
/** Longer inputs and messages are refused before their elements are read. */
const maxItems = 5_000;
const maxParts = 2_000;
const roles = ['user', 'assistant', 'system', 'developer'] as const;

const partSchema = z.looseObject({ type: z.string() }).superRefine((part, context) => {
  const needed = requiredPartField[part.type];
  if (needed && typeof part[needed] !== 'string')
    context.addIssue({ code: 'custom', path: [needed], message: 'must be a string' });
});

/** The required field of each type of part. */
const requiredPartField: Readonly<Record<string, string>> = {
  input_text: 'text',
  output_text: 'text',
  text: 'text',
  refusal: 'refusal',
};

const messageSchema = z.looseObject({
  type: z
    .literal('message')
    .nullish()
    .transform(() => 'message' as const),
  id: itemId.nullish(),
  role: z.enum(roles),
  content: z.union(
    [text, z.array(partSchema).max(maxParts, `must have at most ${maxParts} parts`)],
    'must be a string or an array of parts',
  ),
  status: z.enum(['in_progress', 'completed', 'incomplete']).nullish(),
});

const requiredFields: Readonly<Record<string, readonly string[]>> = {
  item_reference: ['id'],
  function_call: ['call_id', 'name', 'arguments'],
  function_call_output: ['call_id'],
  custom_tool_call: ['call_id', 'name', 'input'],
  custom_tool_call_output: ['call_id'],
  mcp_approval_response: ['approval_request_id'],
};

/** Codex sends some outputs with the tool's name instead of a call id: they do not answer a call of the model. */
function requiredOf(item: Record<string, unknown> & { type: string }): readonly string[] {
  const isNamedOutput = item.type === 'function_call_output' && typeof item['name'] === 'string';
  return isNamedOutput && (item['call_id'] ?? null) === null ? [] : (requiredFields[item.type] ?? []);
}

const additionalToolsSchema = z
  .looseObject({
    type: z.literal('additional_tools'),
    id: itemId.nullish(),
    tools: z.array(toolSchema).max(512),
  })
  .transform(({ id, ...item }): StoredItem => ({ ...item, id: id ?? newItemId(item.type) }));

const otherItemSchema = z
  .looseObject({ type: z.string().min(1), id: itemId.nullish(), status: z.string().nullish() })
  .superRefine((item, context) => {
    for (const field of requiredOf(item)) {
      if (typeof item[field] !== 'string' || item[field] === '')
        context.addIssue({ code: 'custom', path: [field], message: 'is required and must be a string' });
    }
    if (item.type.endsWith('_call_output') && item['output'] === undefined)
      context.addIssue({ code: 'custom', path: ['output'], message: 'is required' });
  });

const storedMessageSchema = messageSchema.transform(storedMessage);
const storedItemSchema = otherItemSchema.transform(storedItem);

/** One item of the input in any of the formats that clients send; completed to its stored format. */
export const inputItemSchema = z
  .looseObject({}, 'must be an object')
  .transform((value, context): InputItem => {
    if (value['type'] === 'additional_tools') return delegate(additionalToolsSchema, value, context);
    return looksLikeMessage(value)
      ? delegate(storedMessageSchema, value, context)
      : delegate(storedItemSchema, withReferenceType(value), context);
  });

/** `input` as a string or as a list of items; a string is one user message. */
export const inputSchema = z
  .union(
    [text, z.array(inputItemSchema).max(maxItems, `must have at most ${maxItems} items`)],
    'must be a string or an array of items',
  )
  .transform((value): InputItem[] => (typeof value === 'string' ? [userMessage(value)] : value));

function looksLikeMessage(value: Record<string, unknown>): boolean {
  return value['type'] === 'message' || ((value['type'] ?? null) === null && 'role' in value);
}

/** `{id}` alone is a reference: its type is optional. */
function withReferenceType(value: Record<string, unknown>): Record<string, unknown> {
  const isReference = (value['type'] ?? null) === null && typeof value['id'] === 'string';
  return isReference ? { ...value, type: 'item_reference' } : value;
}

function userMessage(content: string): StoredItem {
  return storedMessage({ type: 'message', role: 'user', content });
}

function storedMessage(message: z.output<typeof messageSchema>): StoredItem {
  const { type, id, status, role, content, ...rest } = message;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return {
    type,
    id: id ?? newItemId('message'),
    status: status ?? 'completed',
    role,
    content: parts.map((part) => storedPart(part, role)),
    ...rest,
  };
}

/**
 * `text` is the type of a part in chat completions: it becomes the type for its role. Output parts get all their
 * fields.
 */
function storedPart(part: z.output<typeof partSchema>, role: string): Record<string, unknown> {
  const plainText = part.type === 'text' || part.type === 'input_text' || part.type === 'output_text';
  if (part.type === 'input_image') return { detail: 'auto', ...part };
  if (!plainText) return part;
  if (role !== 'assistant') return { ...part, type: 'input_text' };
  return {
    ...part,
    type: 'output_text',
    annotations: part['annotations'] ?? [],
    logprobs: part['logprobs'] ?? [],
  };
}

function storedItem({ id, status, ...rest }: z.output<typeof otherItemSchema>): StoredItem {
  const needsStatus = rest.type.endsWith('_call') || rest.type.endsWith('_output');
  return {
    ...rest,
    // OpenAI's document also requires the predecessor of approval_request_id.
    ...(rest.type === 'mcp_approval_response' && { request_id: rest['approval_request_id'] }),
    id: id ?? newItemId(rest.type),
    ...(status ? { status } : needsStatus && { status: 'completed' }),
  };
}

/** The tools of a request and of the items of its conversation; of two tools with one name the later one counts. */
export function withAdditionalTools(
  tools: readonly ResponseTool[],
  items: readonly StoredItem[],
): ResponseTool[] {
  const added = items.flatMap((item) =>
    item.type === 'additional_tools' ? (item['tools'] as ResponseTool[]) : [],
  );
  if (added.length === 0) return [...tools];
  const byKey = new Map([...tools, ...added].map((tool, place) => [keyOf(tool, place), tool]));
  return [...byKey.values()];
}

/** Tools without a name, such as MCP servers, are never the same. */
function keyOf(tool: ResponseTool, place: number): string {
  const { type, name } = tool as { type: string; name?: unknown };
  return typeof name === 'string' ? `${type} ${name}` : String(place);
}

const isOutput = ({ type }: StoredItem) => type.endsWith('_call_output');

/**
 * Checks that each output of a tool in the input answers a call in the input or before it: a model cannot use other
 * outputs. Errors: invalid_request with the path of the call's id.
 */
export function assertCallsAnswered(
  context: readonly StoredItem[],
  input: readonly StoredItem[],
  path = 'input',
): void {
  const made = new Set(
    [...context, ...input].filter((item) => !isOutput(item)).map((item) => item['call_id']),
  );
  for (const [index, item] of input.entries()) {
    const callId = item['call_id'];
    if (!isOutput(item) || typeof callId !== 'string' || made.has(callId)) continue;
    const param = `${path}[${index}].call_id`;
    throw invalidField(param, `there is no tool call ${callId} for this output`);
  }
}
