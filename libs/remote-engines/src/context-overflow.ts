import { MegaNestError } from '#contracts';

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
export interface Refusal {
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
