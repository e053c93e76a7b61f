import { tokenLogprobSchema } from '#contracts';
import { z } from 'zod';

const logprob = tokenLogprobSchema.extend({
  bytes: z
    .array(z.int())
    .nullish()
    .transform((bytes) => bytes ?? null),
  top_logprobs: tokenLogprobSchema.shape.top_logprobs.catch([]),
});

const toolCall = z.looseObject({
  index: z.int().default(0),
  id: z.string().nullish(),
  function: z
    .looseObject({
      name: z.string().nullish(),
      /** Some engines send the object in the place of its JSON. */
      arguments: z
        .union([z.string(), z.record(z.string(), z.unknown()).transform((given) => JSON.stringify(given))])
        .nullish(),
    })
    .nullish(),
});

const choice = z.looseObject({
  index: z.int().default(0),
  /** Of chat completions. */
  delta: z
    .looseObject({
      content: z.string().nullish(),
      refusal: z.string().nullish().catch(null),
      /** What vLLM, SGLang and DeepSeek call it; `reasoning` with newer vLLM, Ollama and OpenRouter. */
      reasoning_content: z.string().nullish(),
      reasoning: z.string().nullish().catch(null),
      tool_calls: z.array(toolCall).nullish(),
    })
    .nullish(),
  /** Of plain completions. */
  text: z.string().nullish(),
  logprobs: z.looseObject({ content: z.array(logprob).nullish().catch(null) }).nullish(),
  finish_reason: z.string().nullish(),
});
export type CompletionChoice = z.output<typeof choice>;

/** A frame of an OpenAI-compatible stream, as tolerant as its many dialects ask for. */
export const completionChunkSchema = z.looseObject({
  choices: z.array(choice).default([]),
  usage: z
    .looseObject({
      prompt_tokens: z.int(),
      completion_tokens: z.int().default(0),
      completion_tokens_details: z.looseObject({ reasoning_tokens: z.int().nullish() }).nullish(),
      prompt_tokens_details: z.looseObject({ cached_tokens: z.int().nullish() }).nullish(),
    })
    .nullish(),
  error: z.unknown().optional(),
});
export type CompletionChunk = z.output<typeof completionChunkSchema>;
