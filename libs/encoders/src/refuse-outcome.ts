import { MegaNestError, type ModelInfo } from '#contracts';
import type { EncoderOutcome } from './encoder-messages.js';

/** Errors: context_length_exceeded or invalid_request with `param`, where the model refused the input. */
export function refuseOutcome(
  outcome: EncoderOutcome,
  { id, maxInputTokens }: ModelInfo,
  param: string,
): void {
  if ('tooLong' in outcome)
    throw new MegaNestError('context_length_exceeded', {
      tokens: outcome.tooLong,
      model: id,
      limit: maxInputTokens,
      param,
    });
  if ('unknownToken' in outcome)
    throw new MegaNestError('invalid_request', {
      detail: `${id} has no token ${outcome.unknownToken}.`,
      param,
    });
}
