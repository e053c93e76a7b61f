import {
  enginePolicySchema,
  generationParametersSchema,
  templateVariablesSchema,
  type TemplateVariables,
} from '#platform/contracts';
import {
  baseEnvironmentSchema,
  booleanSchema,
  bytes,
  count,
  portSchema,
  type Profile,
} from '#platform/service-kit';
import { littleEffort } from '#api/openai-api';
import { z } from 'zod';

/** Parameters that an operator can set for all requests: of the generation, and for the reasoning of the model. */
const ownParametersSchema = z.strictObject({
  ...generationParametersSchema.omit({
    constraint: true,
    n: true,
    logprobs: true,
    top_logprobs: true,
    best_of: true,
  }).shape,
  reasoning_effort: z.string().min(1).optional(),
  chat_template_kwargs: templateVariablesSchema.optional(),
});

function parsedJson(text: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a JSON object such as {"temperature": 0.2}' });
    return z.NEVER;
  }
}

export const llmEnvironmentSchema = baseEnvironmentSchema.extend({
  LLM_PORT: portSchema.default(9000),
  /** A bundled name, a local directory or a hub id; default: the profile's model. With LLM_ENDPOINT: a model there. */
  LLM_MODEL_ID: z.string().optional(),
  /** A bundled name or a local directory of the model that chooses quotes; `none`: the language model answers. */
  READER_MODEL_ID: z.string().optional(),
  /** Precision of the weights of a local model; auto: int8 where it fits into the free memory, otherwise int4. */
  LLM_WEIGHTS: z.enum(['auto', 'int4', 'int8', 'fp32']).default('auto'),
  /**
   * Weights per scale: 32, or 128, which is less exact; `row` with int8: a whole output, which is faster and less exact.
   * Default: 32, or `row` where the checkpoint has int8 weights with such scales.
   */
  LLM_WEIGHTS_BLOCK: z.enum(['row', '32', '128']).optional(),
  /** An OpenAI-compatible server (vLLM, TGI, Ollama, OVMS) to use in place of a local model. */
  LLM_ENDPOINT: z.url().optional(),
  /** Comma-separated input types of the model at LLM_ENDPOINT: text, or text,image. */
  LLM_MODALITIES: z
    .string()
    .transform((value) => value.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(['text', 'image'])).refine((names) => names.includes('text'), 'must include text'))
    .default(['text']),
  /** Context length in tokens of the model at LLM_ENDPOINT, where its engine does not report it. */
  LLM_CONTEXT_LENGTH: count(64).optional(),
  /** Parameters of requests that do not set them, as a JSON object; in place of those of the profile. */
  LLM_PARAMETERS: z.string().transform(parsedJson).pipe(ownParametersSchema).optional(),
  /** Whether the model calls tools; auto: yes with a chat template that supports tools, or with LLM_ENDPOINT. */
  LLM_TOOLS: z.enum(['auto', 'true', 'false']).default('auto'),
  /** Timeout for a language model that writes search queries; 0: it writes none; default: by the profile. */
  LLM_SEARCH_QUERIES_TIMEOUT_MS: count(0, 60_000).optional(),
  /** Where the documents hold no answer, a model that follows instructions may use what it knows, and says so. */
  LLM_GENERAL_KNOWLEDGE: booleanSchema.optional(),
  /** Bytes of prompt prefixes that a local model keeps for later requests; 0 keeps none. */
  LLM_PREFIX_CACHE_BYTES: bytes('held', 0).default(256 * 1024 * 1024),
  /** Bytes for a second copy of a local model's int8 weights, for few answers at a time; 0 turns it off. */
  LLM_KERNEL_BYTES: bytes('held', 0).default(1024 * 1024 * 1024),
  /** Sent to that server as a bearer token. */
  LLM_API_KEY: z.string().optional(),
  /** Directory of the files with more engines; read again after each change. */
  ENGINES_DIR: z.string().default('engines'),
  /** How the engine of a call is chosen, for models without a policy of their own. */
  ENGINE_POLICY: enginePolicySchema.default('cache_aware'),
  /** `off`: engines on this machine are not looked for. */
  MEGANEST_ENGINE: z.enum(['show', 'auto', 'off']).default('show'),
  /** Whether engines that the API adds may have loopback and private addresses. */
  ENGINES_ALLOW_PRIVATE: booleanSchema.default(true),
});
export type LlmEnvironment = z.infer<typeof llmEnvironmentSchema>;

/** The profile's settings for requests to the language model and for the check of its answers. */
export type LlmSettings = Pick<Profile['llm'], 'parameters' | 'grounding'> &
  Partial<Pick<Profile['llm'], 'writes' | 'searchQueriesTimeoutMs'>> & {
    /** Whether the model calls tools; absent: by its chat template. */
    readonly callsTools?: boolean;
    /** Variables for the chat template of requests that do not set them. */
    readonly templateVariables?: TemplateVariables;
  };

/** Settings of the profile's model, or of the configured engine or model in its place. */
export function selectSettings(
  { llm }: Profile,
  environment: Pick<
    LlmEnvironment,
    | 'LLM_ENDPOINT'
    | 'LLM_MODEL_ID'
    | 'LLM_TOOLS'
    | 'LLM_SEARCH_QUERIES_TIMEOUT_MS'
    | 'LLM_PARAMETERS'
    | 'LLM_GENERAL_KNOWLEDGE'
  >,
): LlmSettings {
  const replaced =
    environment.LLM_ENDPOINT !== undefined || (environment.LLM_MODEL_ID ?? llm.model) !== llm.model;
  const { ownModelParameters, ...ofProfile } = llm;
  const isLocal = environment.LLM_ENDPOINT === undefined;
  const chosen = (replaced && llm.endpoint) || (isLocal ? ofProfile : withoutParameters(ofProfile));
  const settings = withParameters(
    isLocal && replaced ? withGrounding(chosen, ownModelParameters) : chosen,
    environment.LLM_PARAMETERS,
  );
  const { LLM_TOOLS: tools, LLM_SEARCH_QUERIES_TIMEOUT_MS: searchQueriesTimeoutMs } = environment;
  const { LLM_GENERAL_KNOWLEDGE: generalKnowledge } = environment;
  return {
    ...settings,
    ...(generalKnowledge !== undefined && { grounding: { ...settings.grounding, generalKnowledge } }),
    ...(tools !== 'auto' && { callsTools: tools === 'true' }),
    ...(searchQueriesTimeoutMs !== undefined && { searchQueriesTimeoutMs }),
  };
}

/** Adds parameters for answers from passages; those of the settings have precedence. */
function withGrounding(
  settings: LlmSettings,
  parameters: LlmSettings['parameters'] | undefined,
): LlmSettings {
  if (!parameters) return settings;
  const { grounding } = settings;
  return { ...settings, grounding: { ...grounding, parameters: { ...parameters, ...grounding.parameters } } };
}

/** The variable has precedence over the profile, also for answers from passages. */
function withParameters(settings: LlmSettings, given: LlmEnvironment['LLM_PARAMETERS']): LlmSettings {
  if (!given) return settings;
  const { reasoning_effort: effort, chat_template_kwargs: variables, ...parameters } = given;
  const templateVariables = {
    ...(effort !== undefined && { reasoning_effort: effort, enable_thinking: !littleEffort.has(effort) }),
    ...variables,
  };
  const { grounding } = settings;
  return {
    ...settings,
    parameters: { ...settings.parameters, ...parameters },
    grounding: { ...grounding, parameters: { ...grounding.parameters, ...parameters } },
    ...(Object.keys(templateVariables).length > 0 && { templateVariables }),
  };
}

/**
 * An engine has defaults of its own, and some refuse a limit or a temperature: it does not get the parameters of the local
 * model that it replaces.
 */
function withoutParameters(settings: LlmSettings): LlmSettings {
  const { parameters: _local, ...grounding } = settings.grounding;
  return { ...settings, parameters: {}, grounding };
}

/** Settings of the models of engines other than LLM_ENDPOINT. */
export function selectEngineSettings(profile: Profile, environment: LlmEnvironment): LlmSettings {
  return selectSettings(profile, { ...environment, LLM_ENDPOINT: 'http://engine', LLM_MODEL_ID: undefined });
}

/** Injection token of the {@link LlmSettings} of the models of engines. */
export const engineSettings = Symbol('engineSettings');

/** Injection token of the {@link LlmSettings}. */
export const llmSettings = Symbol('llmSettings');
