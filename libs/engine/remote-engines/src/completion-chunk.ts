import {
  tokenLogprobSchema,
  type TokenLogprob,
  type TokenUsage,
  type ToolCallDelta,
} from '#platform/contracts';
import { z } from 'zod';

/** A number that some engines send as text, or with a fraction; undefined for other values. */
const number = z
  .unknown()
  .optional()
  .transform((given) => {
    const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
  });

const text = z.string().nullish().catch(null);

const logprob = tokenLogprobSchema.extend({
  bytes: z
    .array(z.int())
    .nullish()
    .transform((bytes) => bytes ?? null),
  top_logprobs: tokenLogprobSchema.shape.top_logprobs.catch([]),
});

const functionCall = z.looseObject({
  name: text,
  /** JSON text; some engines send the object itself. */
  arguments: z
    .union([z.string(), z.record(z.string(), z.unknown()).transform((given) => JSON.stringify(given))])
    .nullish()
    .catch(null),
});

/** The text of an answer, or a part of it. */
const said = z.looseObject({
  /** A text, or a list of parts. */
  content: z.unknown().optional(),
  refusal: text,
  /** The name in vLLM, SGLang and DeepSeek; newer vLLM, Ollama and OpenRouter use `reasoning`. */
  reasoning_content: text,
  reasoning: text,
  tool_calls: z
    .array(z.looseObject({ index: number, id: text, function: functionCall.nullish() }))
    .nullish()
    .catch(null),
  /** The only call, in the deprecated format. */
  function_call: functionCall.nullish().catch(null),
});

const choice = z.looseObject({
  index: number,
  /** Only in streamed chat completions. */
  delta: said.nullish(),
  /** In place of `delta` in chat completions that are not streamed. */
  message: said.nullish(),
  /** Only in plain completions. */
  text,
  logprobs: z
    .looseObject({
      content: z.array(logprob).nullish().catch(null),
      /** The form of plain completions: a list for each field. */
      tokens: z.array(z.string()).nullish().catch(null),
      token_logprobs: z.array(z.number().nullable()).nullish().catch(null),
      top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).nullish().catch(null),
    })
    .nullish()
    .catch(null),
  finish_reason: text,
});

/** One choice of a frame. */
export type CompletionChoice = z.output<typeof choice>;

const usage = z.looseObject({
  prompt_tokens: number,
  completion_tokens: number,
  total_tokens: number,
  completion_tokens_details: z.looseObject({ reasoning_tokens: number }).nullish().catch(null),
  prompt_tokens_details: z.looseObject({ cached_tokens: number }).nullish().catch(null),
});

/** A frame of an OpenAI-compatible stream, or a whole answer; tolerant, because engines differ in the details. */
export const completionChunkSchema = z
  .looseObject({
    object: text,
    choices: z.array(choice.nullish()).nullish(),
    usage: usage.nullish().catch(null),
    error: z.unknown().optional(),
  })
  .nullable();

/** A frame of an OpenAI-compatible stream. */
export type CompletionChunk = NonNullable<z.output<typeof completionChunkSchema>>;

/** Whether a frame reports an error in place of a part of an answer. */
export function isFailure({ error, object }: CompletionChunk): boolean {
  return (error !== undefined && error !== null) || object === 'error';
}

/** The log probabilities of a choice's tokens, in the form of chat completions. */
export function logprobsOf({ logprobs }: CompletionChoice): TokenLogprob[] | undefined {
  const { content, tokens, token_logprobs: chosen = [], top_logprobs: tops = [] } = logprobs ?? {};
  if (content || !tokens) return content ?? undefined;
  return tokens.map((token, index) => ({
    token,
    logprob: chosen?.[index] ?? 0,
    bytes: null,
    top_logprobs: Object.entries(tops?.[index] ?? {}).map(([other, value]) => ({
      token: other,
      logprob: value,
      bytes: null,
    })),
  }));
}

/** The part of an answer in a choice. */
export interface ChoicePiece {
  text: string;
  refusal: boolean;
  reasoning: string;
  toolCalls: ToolCallDelta[];
}

/** Reads text, reasoning and calls of a choice from all fields in which engines send them. */
export function pieceOf({ delta, message, text: plain }: CompletionChoice): ChoicePiece {
  const source = delta ?? message;
  const parts = source ? partsOf(source.content) : [];
  const joined = (kind: ContentPart['kind']) =>
    parts.map((part) => (part.kind === kind ? part.text : '')).join('');
  const refusal = source?.refusal || joined('refusal');
  const calls = source?.tool_calls?.map(callDelta) ?? [];
  const legacy = source?.function_call ? [callDelta({ function: source.function_call }, 0)] : [];
  return {
    text: refusal || joined('text') || (plain ?? ''),
    refusal: refusal !== '',
    reasoning: source?.reasoning_content || source?.reasoning || joined('reasoning'),
    toolCalls: calls.length > 0 ? calls : legacy,
  };
}

interface ContentPart {
  kind: 'text' | 'reasoning' | 'refusal';
  text: string;
}

/** Mistral sends a list of parts; the parts of its reasoning are lists, too. */
function partsOf(content: unknown, kind: ContentPart['kind'] = 'text'): ContentPart[] {
  if (typeof content === 'string') return [{ kind, text: content }];
  if (Array.isArray(content)) return content.flatMap((part: unknown) => partsOf(part, kind));
  if (typeof content !== 'object' || content === null) return [];
  const { text, thinking, reasoning, refusal } = content as Record<string, unknown>;
  const thought = thinking ?? reasoning;
  if (thought !== undefined) return partsOf(thought, 'reasoning');
  return refusal === undefined ? partsOf(text, kind) : partsOf(refusal, 'refusal');
}

type WireCall = Pick<NonNullable<z.output<typeof said>['tool_calls']>[number], 'function'> & {
  index?: number | undefined;
  id?: string | null | undefined;
};

function callDelta({ index, id, function: piece }: WireCall, place: number): ToolCallDelta {
  return {
    index: index ?? place,
    ...(id && { id }),
    ...(piece?.name && { name: piece.name }),
    input: piece?.arguments ?? '',
  };
}

/** The numbers of tokens that the frames of a stream report; a later frame replaces the numbers of earlier ones. */
export class ReportedUsage {
  #prompt: number | undefined;
  #completion: number | undefined;
  #total: number | undefined;
  #cached: number | undefined;
  #reasoning: number | undefined;

  read({ usage: given }: CompletionChunk): void {
    if (!given) return;
    this.#prompt = given.prompt_tokens ?? this.#prompt;
    this.#completion = given.completion_tokens ?? this.#completion;
    this.#total = given.total_tokens ?? this.#total;
    this.#cached = given.prompt_tokens_details?.cached_tokens ?? this.#cached;
    this.#reasoning = given.completion_tokens_details?.reasoning_tokens ?? this.#reasoning;
  }

  /**
   * The usage; numbers that the engine does not report come from the total or from the estimates. `reasoning`: the number
   * of pieces that are reasoning.
   */
  async orEstimate(
    { pieces, reasoning }: { pieces: number; reasoning: number },
    promptTokens: () => Promise<number>,
  ): Promise<TokenUsage> {
    const total = this.#total ?? 0;
    const completionTokens =
      this.#completion ?? (total > (this.#prompt ?? total) ? total - this.#prompt! : pieces);
    const rest = total - completionTokens;
    const thought =
      this.#reasoning ?? (reasoning > 0 ? Math.round((completionTokens * reasoning) / pieces) : 0);
    return {
      promptTokens: this.#prompt ?? (rest > 0 ? rest : await promptTokens()),
      completionTokens,
      cachedTokens: this.#cached ?? 0,
      ...(thought > 0 && { reasoningTokens: thought }),
    };
  }
}
