import {
  generationParametersSchema,
  invalidField,
  MegaNestError,
  templateVariablesSchema,
  tokenLimitOf,
  tokenLimitSchema,
  type GenerationParameters,
  type ModelInfo,
  type RequestLabels,
  type TemplateVariables,
} from '#platform/contracts';
import { z } from 'zod';
import { inputSchema, type InputItem } from '../items/input-items.js';
import {
  type ResponseSettings,
  echoedFormat,
  formatConstraint,
  textFormatSchema,
} from '../response-object.js';
import { toolChoiceSchema, toolSchema } from '../tools/tools.js';

/** OpenAI's metadata: at most 16 pairs, names of at most 64 and values of at most 512 characters. */
export const metadataSchema = z
  .record(z.string().max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 16, 'must have at most 16 entries');
export type Metadata = z.infer<typeof metadataSchema>;

/** OpenAI's clients send null for "not set". */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

const includes = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
] as const;
/** The additional output that a caller may ask for. */
export const includeSchema = z.array(z.enum(includes));
export type Include = (typeof includes)[number];

const sampling = generationParametersSchema.omit({
  max_tokens: true,
  n: true,
  logprobs: true,
  best_of: true,
  constraint: true,
});
const samplingShape = Object.fromEntries(
  Object.entries(sampling.shape).map(([name, schema]) => [name, optional(schema as z.ZodType)]),
);

const bodySchema = z.looseObject({
  ...samplingShape,
  stop: optional(z.union([z.literal(''), sampling.shape.stop])),
  model: optional(z.string()),
  input: optional(inputSchema),
  instructions: optional(z.string()),
  previous_response_id: optional(z.string()),
  conversation: optional(
    z.union([z.string(), z.looseObject({ id: z.string() })], 'must be an id or an object with an id'),
  ),
  include: optional(includeSchema),
  store: optional(z.boolean()),
  stream: optional(z.boolean()),
  stream_options: optional(z.looseObject({ include_obfuscation: optional(z.boolean()) })),
  background: optional(z.boolean()),
  metadata: optional(metadataSchema),
  max_output_tokens: optional(tokenLimitSchema),
  max_tool_calls: optional(z.int().min(1)),
  parallel_tool_calls: optional(z.boolean()),
  tools: optional(z.array(toolSchema)),
  tool_choice: optional(toolChoiceSchema),
  text: optional(
    z.looseObject({
      format: optional(textFormatSchema),
      verbosity: optional(z.enum(['low', 'medium', 'high'])),
    }),
  ),
  chat_template_kwargs: optional(templateVariablesSchema),
  reasoning: optional(z.looseObject({ effort: optional(z.string()), summary: optional(z.string()) })),
  truncation: optional(z.enum(['auto', 'disabled'])),
  service_tier: optional(z.enum(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'])),
  safety_identifier: optional(z.string().max(64)),
  prompt_cache_key: optional(z.string().max(64)),
  prompt_cache_retention: optional(z.string()),
  prompt_cache_options: optional(z.looseObject({})),
  user: optional(z.string()),
  context_management: optional(
    z
      .array(
        z.looseObject({
          type: z.literal('compaction', 'must be compaction'),
          compact_threshold: optional(z.int().min(1)),
        }),
      )
      .min(1),
  ),
  image_input: optional(z.enum(['refuse', 'describe'])),
});
type Body = z.output<typeof bodySchema>;

/** A request for a response, checked and completed. */
export interface ResponseRequest {
  model?: string;
  /** New items, completed, with unresolved references. */
  input: InputItem[];
  stream: boolean;
  include: ReadonlySet<Include>;
  /** The fields of the request that the response object repeats. */
  settings: ResponseSettings;
  parameters: GenerationParameters;
  /** Variables for the model's chat template. */
  chatTemplateKwargs?: TemplateVariables;
  /** The verbosity and the class of service, for remote engines. */
  labels: Pick<RequestLabels, 'verbosity' | 'service_tier'>;
  /** Number of tokens above which the context is compacted first; null: the server decides; absent: never. */
  compactThreshold?: number | null;
  /** The use of images if the model accepts only text; absent: the server's default. */
  imageInput?: 'refuse' | 'describe';
  /** Names of fields that were accepted without effect. */
  ignored: string[];
  /** Fields beyond the Responses API, e.g. OPEA's retrieval parameters. */
  extra: Record<string, unknown>;
}

/**
 * Parses the body of `POST /v1/responses`. Errors: 400 with the field's path; `unsupported_parameter` for fields that
 * this server cannot honor; `mutually_exclusive_parameters`.
 */
export const createResponseSchema = bodySchema.transform((body): ResponseRequest => {
  assertNothingRefused(body);
  const settings = settingsOf(body);
  assertConsistent(body, settings);
  return {
    model: body.model || undefined,
    input: body.input ?? [],
    stream: body.stream ?? false,
    include: new Set(body.include),
    settings,
    parameters: parametersOf(body, settings),
    ...(body.chat_template_kwargs && { chatTemplateKwargs: body.chat_template_kwargs }),
    labels: {
      ...(body.text?.verbosity && { verbosity: body.text.verbosity }),
      ...(body.service_tier && { service_tier: body.service_tier }),
    },
    ignored: ignoredOf(body),
    imageInput: body.image_input,
    ...(body.context_management && {
      compactThreshold: body.context_management[0]?.compact_threshold ?? null,
    }),
    extra: Object.fromEntries(Object.entries(body).filter(([name]) => !ownFields.has(name))),
  };
});

const ownFields = new Set([...Object.keys(bodySchema.shape), 'n', 'best_of', 'modalities', 'functions']);

/** The settings, with the model's defaults for fields that the caller did not set. */
export function settingsWith(
  { settings, parameters }: Pick<ResponseRequest, 'settings' | 'parameters'>,
  defaults: ModelInfo['defaults'],
): ResponseSettings {
  return {
    ...settings,
    max_output_tokens: parameters.max_tokens ?? defaults?.max_tokens ?? settings.max_output_tokens,
    temperature: parameters.temperature ?? defaults?.temperature ?? settings.temperature,
    top_p: parameters.top_p ?? defaults?.top_p ?? settings.top_p,
  };
}

function settingsOf(body: Body): ResponseSettings {
  const given = samplingOf(body);
  const { conversation, text, reasoning } = body;
  const conversationId = typeof conversation === 'object' ? conversation.id : conversation;
  return {
    previous_response_id: body.previous_response_id || null,
    conversation: conversationId ? { id: conversationId } : null,
    instructions: body.instructions ?? null,
    tools: body.tools ?? [],
    tool_choice: body.tool_choice ?? 'auto',
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    max_tool_calls: body.max_tool_calls ?? null,
    max_output_tokens: tokenLimitOf(body.max_output_tokens) ?? null,
    truncation: body.truncation ?? 'disabled',
    text: { format: echoedFormat(text?.format), ...(text?.verbosity && { verbosity: text.verbosity }) },
    reasoning: { effort: reasoning?.effort || null, summary: reasoning?.summary || null },
    temperature: given.temperature ?? 1,
    top_p: given.top_p ?? 1,
    presence_penalty: given.presence_penalty ?? 0,
    frequency_penalty: given.frequency_penalty ?? 0,
    top_logprobs: given.top_logprobs ?? 0,
    store: body.store ?? true,
    background: body.background ?? false,
    service_tier: 'default',
    metadata: body.metadata ?? {},
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    ...(body.user !== undefined && { user: body.user }),
  };
}

function assertConsistent(body: Body, settings: ResponseSettings): void {
  if (settings.previous_response_id !== null && settings.conversation)
    throw new MegaNestError('mutually_exclusive_parameters', {
      detail: 'Give either previous_response_id or conversation, not both.',
      param: 'previous_response_id',
    });
  if (settings.background && !settings.store)
    throw invalidField('background', 'needs store true, because the result is fetched later');
}

function samplingOf(body: Body): GenerationParameters {
  const named = body as Record<string, unknown>;
  const given = Object.keys(sampling.shape).filter((name) => named[name] !== undefined && named[name] !== '');
  return Object.fromEntries(given.map((name) => [name, named[name]]));
}

function parametersOf(body: Body, { text }: ResponseSettings): GenerationParameters {
  const parameters = samplingOf(body);
  const asked = body.include?.includes('message.output_text.logprobs') ?? false;
  if (asked || (parameters.top_logprobs ?? 0) > 0) parameters.logprobs = true;
  const constraint = formatConstraint(text.format);
  if (constraint) parameters.constraint = constraint;
  const maxTokens = tokenLimitOf(body.max_output_tokens);
  if (maxTokens !== undefined) parameters.max_tokens = maxTokens;
  return parameters;
}

/** Includes with an effect here; the others belong to tools that this server does not have. */
const servedIncludes: ReadonlySet<Include> = new Set([
  'file_search_call.results',
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
]);

/** Accepted fields without an effect on the answer; an error for them would break clients. */
function ignoredOf(body: Body): string[] {
  const conditions: Record<string, boolean> = {
    'reasoning.summary': Boolean(body.reasoning?.summary),
    prompt_cache_retention: body.prompt_cache_retention !== undefined,
    prompt_cache_options: body.prompt_cache_options !== undefined,
    'stream_options.include_obfuscation': body.stream_options?.include_obfuscation === true,
  };
  const fields = Object.keys(conditions).filter((name) => conditions[name]);
  const included = (body.include ?? []).filter((name) => !servedIncludes.has(name));
  return [...fields, ...included.map((name) => `include.${name}`)];
}

/** The body of `POST /v1/responses/compact`. Settings of the prompt cache and the tier have no effect. */
export const compactRequestSchema = z.looseObject({
  model: z.string('is required: the model that the context is compacted for'),
  input: optional(inputSchema),
  previous_response_id: optional(z.string()),
  instructions: optional(z.string()),
  prompt_cache_key: optional(z.string().max(64)),
});
export type CompactRequest = z.infer<typeof compactRequestSchema>;

const served = new Set(Object.keys(compactRequestSchema.shape));

/** Fields of a request that have no effect here. */
export function ignoredCompactFields(request: CompactRequest): string[] {
  return Object.keys(request).filter((name) => !served.has(name) && request[name] !== null);
}

/** Fields that change the meaning of the answer and that this server cannot honor, each with the reason. */
const refused: Readonly<Record<string, string>> = {
  prompt: 'prompt templates are not stored here; send instructions and input',
  moderation: 'there is no moderation model',
  modalities: 'answers are text',
  audio: 'answers are text',
  best_of: 'a response has one answer',
  functions: 'use tools',
  function_call: 'use tool_choice',
  response_format: 'use text.format',
  messages: 'use input',
};

/** Values of these fields that clients send as defaults, and that change nothing. */
const neutralValues: Readonly<Record<string, string>> = {
  best_of: '1',
  modalities: '["text"]',
  functions: '[]',
};

/** Errors: unsupported_parameter that names the field and says what to do. */
function assertNothingRefused(body: Readonly<Record<string, unknown>>): void {
  for (const [name, reason] of Object.entries(refused)) {
    const value = body[name];
    if (value === undefined || value === null || neutralValues[name] === JSON.stringify(value)) continue;
    throw new MegaNestError('unsupported_parameter', { detail: `${name}: ${reason}`, param: name });
  }
  const { n } = body;
  if (typeof n === 'number' && n > 1)
    throw new MegaNestError('unsupported_parameter', { detail: 'n: a response has one answer', param: 'n' });
}
