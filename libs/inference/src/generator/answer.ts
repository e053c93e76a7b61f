import type { Sampler } from '../sampling/sampler.js';
import type { TokenVocabulary } from '../tokenizer/token-vocabulary.js';
import { AnswerText, type AnswerPiece, type AnswerToken } from './answer-text.js';
import type { DecoderSequence } from './decoder-backend.js';
import type { GenerationEvent } from './generator-interface.js';

export interface AnswerLimits {
  readonly stops: readonly string[];
  /** Tokens that end the answer; empty with `ignore_eos`. */
  readonly endTokenIds: ReadonlySet<number>;
  readonly maxTokens: number;
}

/** One of the n answers while it is being written. */
export class Answer {
  private readonly text: AnswerText;
  /** Tokens drawn so far, an end token included. */
  tokens = 0;
  finished = false;
  /** The token to go in next. */
  nextToken = 0;

  constructor(
    private readonly choice: number,
    readonly sequence: DecoderSequence,
    private readonly sampler: Sampler,
    vocabulary: TokenVocabulary,
    private readonly limits: AnswerLimits,
  ) {
    this.text = new AnswerText(vocabulary, limits.stops);
  }

  /** Draws the next token from its logits and says what became certain by it; undefined when nothing did. */
  advance(logits: Float32Array): GenerationEvent | undefined {
    const token = this.sampler.sample(logits);
    this.tokens++;
    this.nextToken = token.id;
    if (this.limits.endTokenIds.has(token.id)) return this.finish('stop', []);
    const piece = this.text.push(token);
    if (piece.stopped) return this.finish('stop', [piece]);
    if (this.tokens >= this.limits.maxTokens) return this.finish('length', [piece, this.text.finish()]);
    return piece.tokens.length > 0 ? this.event([piece]) : undefined;
  }

  private finish(finishReason: 'stop' | 'length', pieces: readonly AnswerPiece[]): GenerationEvent {
    this.finished = true;
    const ended = this.limits.endTokenIds.has(this.nextToken);
    return { ...this.event(ended ? [this.text.finish()] : pieces), finishReason };
  }

  private event(pieces: readonly AnswerPiece[]): GenerationEvent {
    const tokens: AnswerToken[] = pieces.flatMap((piece) => piece.tokens);
    const logprobs = tokens.flatMap(({ logprob }) => logprob ?? []);
    return {
      choice: this.choice,
      text: pieces.map((piece) => piece.text).join(''),
      tokenIds: tokens.map(({ id }) => id),
      ...(logprobs.length > 0 && { logprobs }),
    };
  }
}
