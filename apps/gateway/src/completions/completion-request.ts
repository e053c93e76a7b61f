import {
  generationParametersSchema,
  invalidField,
  MegaNestError,
  samplingShape,
  tokenLimitOf,
  tokenLimitSchema,
  type GenerationParameters,
} from '#platform/contracts';
import { outputConstraint, outputFormatSchema } from '#api/openai-api';
import { z } from 'zod';

const tokens = z.array(z.int().min(0)).min(1);
const promptSchema = z.union(
  [z.string(), z.array(z.string()).min(1), tokens, z.array(tokens).min(1)],
  'must be a text, tokens, or a list of either',
);

/** Maximum prompts of one request. */
const maxPrompts = 128;

const { logit_bias, stop, n, best_of, ignore_eos, include_stop_str_in_output } =
  generationParametersSchema.shape;
const { num_assistant_tokens, max_ngram_size } = generationParametersSchema.shape;
const parameterShape = Object.fromEntries(
  Object.entries({
    ...samplingShape,
    logit_bias,
    stop,
    n,
    best_of,
    ignore_eos,
    include_stop_str_in_output,
    num_assistant_tokens,
    max_ngram_size,
  }).map(([name, schema]) => [name, (schema as z.ZodType).nullish()]),
);
const parameterNames = Object.keys(parameterShape);

const bodySchema = z.looseObject({
  ...parameterShape,
  ...outputFormatSchema.shape,
  model: z.string().nullish(),
  prompt: promptSchema,
  suffix: z.string().nullish(),
  max_tokens: z.union([tokenLimitSchema, z.literal(0)]).nullish(),
  echo: z.boolean().nullish(),
  logprobs: z.union([z.int().min(0).max(20), z.boolean()]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().nullish(),
});
const knownFields = new Set(Object.keys(bodySchema.shape));

/** Tokens of a completion, where the client sets no limit. */
const usualTokens = 16;

/** A parsed request for completions of prompts. */
export interface CompletionRequest {
  model: string | undefined;
  /** Each is a text, or the ids of tokens. */
  prompts: (string | number[])[];
  suffix: string | undefined;
  parameters: GenerationParameters;
  /** The prompt comes before the completion. */
  echo: boolean;
  /** Nothing is generated; only with `echo`. */
  isEmpty: boolean;
  stream: boolean;
  includeUsage: boolean;
  user: string | undefined;
  /** Fields without effect. */
  ignored: string[];
}

/** Parses the body of `POST /v1/completions`. Errors: 400 with the field's path. */
export const completionRequestSchema = bodySchema.transform((body): CompletionRequest => {
  const fields = body as Record<string, unknown>;
  const prompts = promptsOf(body.prompt);
  const echo = body.echo === true;
  const limit = body.max_tokens ?? usualTokens;
  if (limit === 0 && !echo) throw invalidField('max_tokens', 'must be at least 1 without echo');
  const constraint = outputConstraint(body);
  const top = body.logprobs === true ? 1 : body.logprobs === false ? undefined : (body.logprobs ?? undefined);
  if (echo && top !== undefined) {
    const detail =
      'logprobs: with echo they would be those of the prompt, which are not computed; leave one out';
    throw new MegaNestError('unsupported_parameter', { detail, param: 'logprobs' });
  }
  const maxTokens = tokenLimitOf(limit === 0 ? 1 : limit);
  const parameters: GenerationParameters = {
    ...Object.fromEntries(
      parameterNames.flatMap((name) => (fields[name] == null ? [] : [[name, fields[name]]])),
    ),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(top !== undefined && { logprobs: true, top_logprobs: top }),
    ...(constraint && { constraint }),
  };
  const { n: answers = 1, best_of: bestOf = answers } = parameters;
  if (bestOf < answers) throw invalidField('best_of', 'must not be below n');
  if (bestOf > answers && body.stream)
    throw invalidField('best_of', 'the best answer is only known at the end; set stream to false');
  return {
    model: body.model || undefined,
    prompts,
    suffix: body.suffix || undefined,
    parameters,
    echo,
    isEmpty: limit === 0,
    stream: body.stream === true,
    includeUsage: body.stream_options?.include_usage ?? false,
    user: body.user ?? undefined,
    ignored: Object.keys(fields).filter((name) => !knownFields.has(name) && fields[name] != null),
  };
});

function promptsOf(prompt: z.output<typeof promptSchema>): (string | number[])[] {
  const isOne = typeof prompt === 'string' || typeof prompt[0] === 'number';
  const prompts = (isOne ? [prompt] : prompt) as (string | number[])[];
  if (prompts.length > maxPrompts) throw invalidField('prompt', `has more than ${maxPrompts} prompts`);
  const empty = prompts.findIndex(({ length }) => length === 0);
  if (empty !== -1) throw invalidField(isOne ? 'prompt' : `prompt[${empty}]`, 'is empty');
  return prompts;
}
