import type { TokenLogprob } from '#contracts';
import type { LogProb } from '../items/output-items.js';

const encoder = new TextEncoder();

/** Log probabilities in the Responses API's form; a token without bytes gets those of its text. */
export function toLogProbs(logprobs: readonly TokenLogprob[] = []): LogProb[] {
  return logprobs.map(({ token, logprob, bytes, top_logprobs }) => ({
    token,
    logprob,
    bytes: bytesOf(token, bytes),
    top_logprobs: top_logprobs.map((top) => ({ ...top, bytes: bytesOf(top.token, top.bytes) })),
  }));
}

function bytesOf(token: string, bytes: number[] | null): number[] {
  return bytes ?? [...encoder.encode(token)];
}
