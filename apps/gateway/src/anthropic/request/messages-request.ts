import { unsupportedField } from '#platform/contracts';
import { z } from 'zod';
import { assistantBlock, textBlock, userBlock } from './blocks.js';

const content = <Block extends z.ZodType>(block: Block) => z.union([z.string(), z.array(block)]);

const messageSchema = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('user'), content: content(userBlock) }),
  z.looseObject({ role: z.literal('assistant'), content: content(assistantBlock) }),
  z.looseObject({ role: z.literal('system'), content: content(textBlock) }),
]);
export type AnthropicMessage = z.output<typeof messageSchema>;

const toolSchema = z.looseObject({
  type: z.string().nullish(),
  name: z.string().min(1),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()).optional(),
  strict: z.boolean().nullish(),
});

const disableParallel = { disable_parallel_tool_use: z.boolean().nullish() };
const choiceSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('auto'), ...disableParallel }),
  z.looseObject({ type: z.literal('any'), ...disableParallel }),
  z.looseObject({ type: z.literal('tool'), name: z.string().min(1), ...disableParallel }),
  z.looseObject({ type: z.literal('none') }),
]);

const display = { display: z.enum(['summarized', 'omitted']).nullish() };
const thinkingSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1), ...display }),
  z.looseObject({ type: z.literal('adaptive'), ...display }),
  z.looseObject({ type: z.literal('disabled') }),
]);

const formatSchema = z.looseObject({
  type: z.literal('json_schema'),
  schema: z.record(z.string(), z.unknown()),
});

/** The fields that a request for an answer and a request for a count share. */
const sharedShape = {
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1),
  system: content(textBlock).nullish(),
  tools: z.array(toolSchema).max(512).nullish(),
  tool_choice: choiceSchema.nullish(),
  thinking: thinkingSchema.nullish(),
};

/** The body of `POST /v1/messages/count_tokens`. */
export const countTokensSchema = z.looseObject(sharedShape);
export type CountTokensRequest = z.output<typeof countTokensSchema>;

/**
 * The body of `POST /v1/messages`. Further fields are parameters of the mega service, such as `collection`, or without
 * effect.
 */
export const messagesRequestSchema = z.looseObject({
  ...sharedShape,
  max_tokens: z.int().min(1),
  stream: z.boolean().nullish(),
  stop_sequences: z.array(z.string().min(1)).max(16).nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  service_tier: z.enum(['auto', 'standard_only']).nullish(),
  output_config: z.looseObject({ effort: z.string().nullish(), format: formatSchema.nullish() }).nullish(),
  output_format: formatSchema.nullish(),
});
export type MessagesRequest = z.output<typeof messagesRequestSchema>;

/** Fields that are served by Anthropic alone and would change the answer. */
const refusedFields = ['mcp_servers', 'container', 'inference_geo', 'fallbacks'];

/** Refuses fields and tools that would change the answer. Errors: unsupported_parameter that names the field. */
export function assertServed(body: CountTokensRequest): void {
  for (const name of refusedFields) {
    const value = body[name];
    const isNeutral = value === null || value === undefined || (Array.isArray(value) && value.length === 0);
    if (!isNeutral) throw unsupportedField(name, 'is not served here');
  }
  for (const [index, { type, input_schema }] of (body.tools ?? []).entries()) {
    if (type != null && type !== 'custom')
      throw unsupportedField(`tools[${index}].type`, `the built-in tool ${type} is not served here`);
    if (!input_schema) throw unsupportedField(`tools[${index}].input_schema`, 'is required');
  }
  if (body.messages.at(-1)?.role === 'assistant') {
    const reason = 'an answer cannot begin with a given text; the last message must be of the user';
    throw unsupportedField(`messages[${body.messages.length - 1}]`, reason);
  }
}
