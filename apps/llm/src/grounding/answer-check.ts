import type { Citation, TokenLogprob } from '#contracts';
import type { GenerationEvent } from '#generation';

/** What a check lets through of one answer. */
export interface CheckedPiece {
  readonly text: string;
  /** Of the model's tokens that are part of the text. */
  readonly logprobs?: TokenLogprob[];
  /** On the last piece; what the model says afterwards is not wanted any more. */
  readonly finishReason?: GenerationEvent['finishReason'];
  readonly citations?: Citation[];
}

/** Follows one answer of the model while it is written. What it has let through is never taken back. */
export interface AnswerCheck {
  push(event: Pick<GenerationEvent, 'text' | 'logprobs' | 'finishReason'>): CheckedPiece;
}
