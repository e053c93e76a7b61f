import {
  generationParametersSchema,
  MegaNestError,
  templateVariablesSchema,
  tokenLimitOf,
  tokenLimitSchema,
  type TemplateVariables,
  type ChatMessage,
  type GenerationParameters,
  type ModelInfo,
  type RequestLabels,
  type Neighbour,
  type RetrievedDocument,
  invalidField,
} from '#platform/contracts';
import { z } from 'zod';
import { messagesSchema, toChatMessages } from './chat-messages.js';
import { chatTools, chatToolsSchema, type ChatTools } from './chat-tools.js';
import { outputConstraint, outputFormatSchema } from './output-format.js';

/** A caller gives the format of the answer in other fields. */
const parametersSchema = generationParametersSchema.omit({ constraint: true });

const parameterShape = Object.fromEntries(
  Object.entries(parametersSchema.shape).map(([name, schema]) => [name, (schema as z.ZodType).nullish()]),
);

const bodySchema = z.looseObject({
  ...parameterShape,
  ...chatToolsSchema.shape,
  ...outputFormatSchema.shape,
  messages: messagesSchema.optional(),
  /** The name of the field in the OPEA specification. */
  message: messagesSchema.optional(),
  model: z.string().nullish(),
  max_tokens: tokenLimitSchema.nullish(),
  max_completion_tokens: tokenLimitSchema.nullish(),
  stream: z.boolean().nullish(),
  stop: z.union([z.literal(''), parametersSchema.shape.stop]).nullish(),
  reasoning_effort: z.string().nullish(),
  chat_template_kwargs: templateVariablesSchema.nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().max(64).nullish(),
  prompt_cache_key: z.string().max(64).nullish(),
  verbosity: z.string().nullish(),
  service_tier: z.string().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
});

const ownFields = new Set(Object.keys(bodySchema.shape));

type Body = WithoutNulls<z.output<typeof bodySchema>>;
type WithoutNulls<Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], null> };

/** Fields in which an empty text means "not set". */
const emptyFields: ReadonlySet<string> = new Set([
  'model',
  'stop',
  'reasoning_effort',
  'verbosity',
  'service_tier',
]);

/**
 * OpenAI's clients send null for "not set", some also an empty text. One pass here costs half as much as a transform of each
 * field.
 */
function withoutUnset<Fields extends object>(fields: Fields): WithoutNulls<Fields> {
  const given = { ...fields } as Record<string, unknown>;
  for (const name of ownFields)
    if (given[name] === null || (given[name] === '' && emptyFields.has(name))) delete given[name];
  return given as WithoutNulls<Fields>;
}

export interface ChatCompletionRequest extends ChatTools {
  messages: ChatMessage[];
  model?: string;
  parameters: GenerationParameters;
  /** Variables for the model's chat template. */
  chatTemplateKwargs?: TemplateVariables;
  /** The reasoning effort; `field` is its path in the caller's request. */
  reasoningEffort?: { value: string; field: string };
  /** Passages to answer from, if no mega service finds them. */
  documents?: RetrievedDocument[];
  /** Passages around them, which the answer may also rest on. */
  neighbours?: Neighbour[];
  labels?: RequestLabels;
  /** Absent if the caller did not set it. */
  stream?: boolean;
  includeUsage: boolean;
  /** Fields beyond the chat completions API, e.g. OPEA's retrieval parameters. */
  extra: Record<string, unknown>;
}

/** Parses the body of `POST /v1/chat/completions`. Errors: 400 with the field's path. */
export const chatCompletionRequestSchema = bodySchema.transform((given, context): ChatCompletionRequest => {
  const body = withoutUnset(given);
  const messages = body.messages ?? body.message;
  if (!messages) {
    context.addIssue({ code: 'custom', path: ['messages'], message: 'is required' });
    return z.NEVER;
  }
  assertConsistent(body);
  const effort = body.reasoning_effort;
  const constraint = outputConstraint(body);
  return {
    ...chatTools(body),
    messages: toChatMessages(messages, body.messages ? 'messages' : 'message'),
    model: body.model,
    parameters: { ...generationParameters(body), ...(constraint && { constraint }) },
    ...(effort !== undefined && { reasoningEffort: { value: effort, field: 'reasoning_effort' } }),
    ...(body.chat_template_kwargs && { chatTemplateKwargs: body.chat_template_kwargs }),
    ...labelsOf(body),
    stream: body.stream,
    includeUsage: body.stream_options?.include_usage ?? false,
    extra: extraFields(body),
  };
});

function labelsOf({
  user,
  safety_identifier,
  prompt_cache_key,
  verbosity,
  service_tier,
}: Body): Pick<ChatCompletionRequest, 'labels'> {
  const labels = { user, safety_identifier, prompt_cache_key, verbosity, service_tier };
  const given = Object.entries(labels).filter(([, value]) => value !== undefined);
  return given.length > 0 ? { labels: Object.fromEntries(given) } : {};
}

/**
 * Returns the labels without effect. A local model finds cached prefixes by their content, without a key, has one class
 * of service, and the log has the user. A remote engine gets all labels.
 */
export function unusedLabels(
  labels: RequestLabels | undefined,
  model: Pick<ModelInfo, 'templateVariables'> | undefined,
): string[] {
  const isElsewhere = model !== undefined && model.templateVariables === undefined;
  if (!labels || isElsewhere) return [];
  const { prompt_cache_key: key, verbosity, service_tier: tier } = labels;
  return [
    ...(key !== undefined ? ['prompt_cache_key'] : []),
    ...(verbosity !== undefined ? ['verbosity'] : []),
    ...(tier !== undefined && tier !== 'auto' && tier !== 'default' ? ['service_tier'] : []),
  ];
}

/** Returns the unknown fields that are ignored. Errors: unsupported_parameter for an unknown field that is refused. */
export function ignoredFields(
  extra: Record<string, unknown>,
  used: ReadonlySet<string> = new Set(),
): string[] {
  const unused = Object.keys(extra).filter((name) => !used.has(name));
  for (const name of unused) assertIgnorable(name, extra[name]);
  return unused;
}

/** Refuses fields that change the meaning of the answer: they must not be dropped silently. */
function assertIgnorable(name: string, value: unknown): void {
  if (!refusedFields.has(name) || isNeutral(name, value)) return;
  const detail = `${name} is not supported by this model`;
  throw new MegaNestError('unsupported_parameter', { detail, param: name });
}

const refusedFields = new Set(['modalities', 'audio', 'prediction', 'web_search_options']);

function isNeutral(name: string, value: unknown): boolean {
  if (value === null || (Array.isArray(value) && value.length === 0)) return true;
  return name === 'modalities' && JSON.stringify(value) === '["text"]';
}

function assertConsistent(body: Body): void {
  const { logprobs, top_logprobs: top, best_of: bestOf, n = 1 } = body as GenerationParameters;
  if ((top ?? 0) > 0 && logprobs !== true) throw invalidField('top_logprobs', 'needs logprobs true');
  if (bestOf === undefined) return;
  if (bestOf < n) throw invalidField('best_of', 'must not be below n');
  if (bestOf > n && body.stream)
    throw invalidField('best_of', 'the best answer is only known at the end; set stream to false');
}

function generationParameters(body: Body): GenerationParameters {
  const named = body as Record<string, unknown>;
  const parameters = Object.fromEntries(
    Object.keys(parametersSchema.shape)
      .filter((name) => named[name] !== undefined)
      .map((name) => [name, named[name]]),
  ) as GenerationParameters;
  const { max_tokens: older, ...rest } = parameters;
  const maxTokens = tokenLimitOf(body.max_completion_tokens ?? older);
  return { ...rest, ...(maxTokens !== undefined && { max_tokens: maxTokens }) };
}

function extraFields(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => !ownFields.has(name) && value !== undefined && value !== null,
    ),
  );
}
