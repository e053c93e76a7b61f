import {
  generationParametersSchema,
  invalidField,
  unsupportedField,
  type ChatMessage,
  generate,
  type GenerationChunk,
  type RequestOf,
} from '#platform/contracts';
import type { ServiceKind } from '#platform/dag';
import { z } from 'zod';
import { affinityOf, conversationOf, type NodeCall } from '../mega-service-request.js';

/** The language model of a node. */
export const modelParameter = z
  .string()
  .min(1)
  .optional()
  .describe('Name of the language model; default: DEFAULT_MODEL, or the served model');

const question = '{question}';
const placeholder = /\{([A-Za-z]\w*)\}/g;

const templateSchema = z
  .string()
  .max(20_000)
  .refine((text) => text.includes(question), `must contain ${question}`)
  .default(question)
  .describe('What the model reads in place of the last message; names in braces are fields of the request');

const parameters = generationParametersSchema.extend({
  chat_template: templateSchema,
  model: modelParameter,
});

/** The parameters of `llm.write`: those of a generation, and a text for each name in the template of the YAML. */
export function writingParameters({
  chat_template: template,
}: Readonly<Record<string, unknown>>): Pick<ServiceKind, 'parameters' | 'unjudged'> {
  const names = typeof template === 'string' ? fieldsOf(template) : [];
  const fields = names.map((name) => [
    name,
    z.string().max(100_000).optional().describe(`Fills {${name}} of the template`),
  ]);
  return { parameters: parameters.extend(Object.fromEntries(fields) as z.ZodRawShape), unjudged: names };
}

function fieldsOf(template: string): string[] {
  const names = [...template.matchAll(placeholder)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => name !== 'question' && !(name in parameters.shape));
}

/**
 * Writes a text by the node's template: it replaces the user's last message. Errors: unsupported_parameter for a model
 * that quotes documents and does not follow instructions; invalid_request for a field of the template without a value.
 */
export async function* callWrite(call: NodeCall): AsyncGenerator<GenerationChunk, void, void> {
  const { client, context, options, images } = call;
  const { form, chatTemplateKwargs, labels } = call.request;
  const info = await call.describeModel();
  if (info?.followsInstructions === false) {
    const reason = `${info.id} quotes documents and does not write texts: set LLM_ENDPOINT or LLM_MODEL_ID to a model that does`;
    throw unsupportedField('model', reason);
  }
  const { chat_template: template, ...given } = context.parameters as z.output<typeof parameters>;
  const names = fieldsOf(template);
  const fields = given as Record<string, unknown>;
  const filled = filledTurns(conversationOf(call).messages, template, fields);
  const request: RequestOf<typeof generate> = {
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name))),
    ...form,
    ...(chatTemplateKwargs && { chat_template_kwargs: chatTemplateKwargs }),
    ...(labels && { labels }),
    messages: filled,
  };
  const affinity = affinityOf(filled);
  yield* images.lend(filled, { signal: options.signal }, (messages) =>
    client.stream(generate, { ...request, messages }, { ...options, affinity }),
  );
}

/** The turns with the filled template as the user's last one. All names are replaced at once, so that braces in a value stay. */
function filledTurns(
  messages: readonly ChatMessage[],
  template: string,
  fields: Readonly<Record<string, unknown>>,
): ChatMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const turn = messages[last];
  if (!turn) throw invalidField('messages', 'must contain at least one message with the role user');
  const content = template.replaceAll(placeholder, (whole, name: string) => {
    if (name === 'question') return turn.content;
    if (name in parameters.shape) return whole;
    const value = fields[name];
    if (typeof value !== 'string' || value === '') throw invalidField(name, 'is required');
    return value;
  });
  return messages.map((message, index) => (index === last ? { ...message, content } : message));
}
