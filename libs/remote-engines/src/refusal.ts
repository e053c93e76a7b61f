import { MegaNestError } from '#contracts';
import type { Response } from 'undici';
import { z } from 'zod';

/** OpenAI's `{error: {message, param, code}}`, TEI's and TGI's `{error, error_type}`, FastAPI's `{detail}`. */
const refusalSchema = z.looseObject({
  error: z
    .union([
      z.string().transform((message) => ({ message, param: undefined, code: undefined, type: undefined })),
      z.looseObject({
        message: z.string(),
        param: z.string().nullish(),
        code: z.unknown().optional(),
        type: z.unknown().optional(),
      }),
    ])
    .optional(),
  message: z.string().optional(),
  detail: z.unknown().optional(),
});

/** The error that stands for an answer which is no success: the caller's fault, too much load, or the engine's. */
export function refusalError(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  text: string,
  service: string,
): MegaNestError {
  const refusal = readRefusal(text);
  const { message, param } = refusal;
  const overflow = status < 500 ? overflowError(refusal, service) : undefined;
  if (overflow) return overflow;
  if (status === 400 || status === 413 || status === 422)
    return new MegaNestError('invalid_request', { detail: message, param });
  if (status === 429) {
    const retryAfter = Number(headers.get('retry-after')) || 1;
    return new MegaNestError('overloaded', { service, detail: `a busy engine (${message})`, retryAfter });
  }
  const detail = `its engine answered ${status}: ${message}`;
  const unavailable = status === 502 || status === 503 || status === 504;
  return new MegaNestError(unavailable ? 'service_unavailable' : 'bad_upstream', { service, detail });
}

/** What an engine says about a failure, whatever shape it has. */
export function readRefusal(text: string): Refusal & { param: string | null } {
  const { error, message, detail } = refusalSchema.safeParse(parseJson(text)).data ?? {};
  const said = error?.message ?? message ?? (typeof detail === 'string' ? detail : undefined);
  return {
    message: said ?? (text.trim().slice(0, 200) || 'no reason given'),
    param: error?.param ?? null,
    code: error?.code,
    type: error?.type,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How engines say that a prompt does not fit; most of them have no code for it. */
const sayings: readonly RegExp[] = [
  // OpenAI, vLLM, SGLang, OpenRouter, DeepSeek, Mistral.
  /maximum context length/i,
  /longer than the (model'?s|maximum) (context|model) length/i,
  /(exceeds?|exceeded|greater than|overflows?) .{0,60}context (length|size|window)/i,
  /context (length|size|window) .{0,40}(exceed|overflow)/i,
  // LM Studio.
  /context the overflows|loaded with context length of only/i,
  // TGI.
  /`?inputs`? (tokens \+ `?max_new_tokens`? must be <=|must have less than) \d+/i,
  // OpenVINO Model Server, Gemini, Anthropic, MegaNest.
  /prompt tokens:? \d+ exceeds/i,
  /input token count .{0,40}exceeds the maximum/i,
  /prompt is too long: \d+ tokens/i,
  /The input has \d+ tokens, but .{1,200} takes at most \d+/,
];

const codes: ReadonlySet<unknown> = new Set(['context_length_exceeded', 'exceed_context_size_error']);

/** What of an engine's refusal tells an overflow. */
interface Refusal {
  message: string;
  code?: unknown;
  type?: unknown;
}

/** The error of a prompt that is too long, in the engine's own words; undefined where it refuses something else. */
export function overflowError({ message, code, type }: Refusal, service: string): MegaNestError | undefined {
  const isOverflow =
    codes.has(code) || codes.has(type) || sayings.some((saying) => saying.test(message.slice(0, 2_000)));
  if (!isOverflow) return undefined;
  const { type: ours, status } = new MegaNestError('context_length_exceeded');
  return MegaNestError.fromBody({
    code: 'context_length_exceeded',
    status,
    type: ours,
    message,
    param: service === 'llm' ? 'messages' : null,
  });
}
