import type { Sampler } from '../sampling/sampler.js';
import type { TokenVocabulary } from '../tokenizer/token-vocabulary.js';
import { AnswerText, type AnswerPiece, type AnswerToken } from './answer-text.js';
import type { DecoderSequence } from './decoder-backend.js';
import type { GenerationEvent } from './generator-interface.js';
import type { PromptLookup } from './prompt-lookup.js';

export interface AnswerLimits {
  readonly vocabulary: TokenVocabulary;
  readonly stops: readonly string[];
  /** Tokens that end the answer; empty with `ignore_eos`. */
  readonly endTokenIds: ReadonlySet<number>;
  readonly maxTokens: number;
}

/** How an answer guesses ahead. */
export interface Drafting {
  readonly lookup: PromptLookup;
  readonly maxDrafts: number;
  /** See DecoderBackend.draftMargin. */
  readonly margin: number;
}

/** One of the n answers while it is being written. */
export class Answer {
  private readonly text: AnswerText;
  /** Tokens drawn so far, an end token included. */
  tokens = 0;
  finished = false;
  /** The last pass was too close to call: the next one must be over a single token. */
  needsPlainPass = false;
  private lastToken = 0;
  private drafts: readonly number[] = [];

  constructor(
    private readonly choice: number,
    readonly sequence: DecoderSequence,
    private readonly sampler: Sampler,
    private readonly limits: AnswerLimits,
    private readonly drafting?: Drafting,
  ) {
    this.text = new AnswerText(limits.vocabulary, limits.stops);
  }

  /** The tokens to go in next: the last one drawn, and guesses of what follows it where `draft` allows. */
  nextTokens(draft: boolean): readonly number[] {
    const room = this.limits.maxTokens - this.tokens - 1;
    const count = draft && this.drafting ? Math.min(this.drafting.maxDrafts, room) : 0;
    this.drafts = count > 0 ? this.drafting!.lookup.guess(count) : [];
    return [this.lastToken, ...this.drafts];
  }

  /**
   * Draws tokens from the logits behind each token that went in, as far as the guesses were right, and takes the others
   * back. Returns what became certain; undefined when nothing did.
   */
  advance(rows: readonly Float32Array[]): GenerationEvent | undefined {
    const pieces: AnswerPiece[] = [];
    const before = this.sequence.length - rows.length;
    let drawn = 0;
    let finishReason: 'stop' | 'length' | undefined;
    for (const logits of rows) {
      this.needsPlainPass = rows.length > 1 && this.isTooClose(logits);
      if (this.needsPlainPass) break;
      finishReason = this.draw(logits, pieces);
      drawn++;
      if (finishReason || this.lastToken !== this.drafts[drawn - 1]) break;
    }
    if (drawn < rows.length) this.sequence.truncate?.(before + drawn);
    if (finishReason) {
      this.finished = true;
      return { ...this.event(pieces), finishReason };
    }
    return pieces.some(({ tokens }) => tokens.length > 0) ? this.event(pieces) : undefined;
  }

  private isTooClose(logits: Float32Array): boolean {
    return this.drafting !== undefined && !this.sampler.isClear(logits, this.drafting.margin);
  }

  private draw(logits: Float32Array, pieces: AnswerPiece[]): 'stop' | 'length' | undefined {
    const token = this.sampler.sample(logits);
    this.tokens++;
    this.lastToken = token.id;
    if (this.limits.endTokenIds.has(token.id)) {
      pieces.push(this.text.finish());
      return 'stop';
    }
    this.drafting?.lookup.append([token.id]);
    const piece = this.text.push(token);
    pieces.push(piece);
    if (piece.stopped) return 'stop';
    if (this.tokens < this.limits.maxTokens) return undefined;
    pieces.push(this.text.finish());
    return 'length';
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
