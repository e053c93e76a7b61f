import { MegaNestError } from '#contracts';
import type { TokenConstraint } from '#grammar';
import type { TokenVocabulary } from '#models';
import type { SampledToken, Sampler } from '../sampling/sampler.js';
import { AnswerText, type AnswerPiece, type AnswerToken } from './answer-text.js';
import type { DecoderSequence, ForwardItem } from '../backends/decoder-backend.js';
import type { GenerationEvent } from '../generator-interface.js';
import type { PromptLookup } from '../scheduling/prompt-lookup.js';

export interface AnswerLimits {
  readonly vocabulary: TokenVocabulary;
  readonly stops: readonly string[];
  /** Tokens that end the answer; empty with `ignore_eos`. */
  readonly endTokenIds: ReadonlySet<number>;
  readonly maxTokens: number;
  /** The stop string that ends the answer is part of it. */
  readonly includeStop: boolean;
}

/** How an answer guesses ahead. */
export interface Drafting {
  readonly lookup: PromptLookup;
  readonly maxDrafts: number;
}

/** What sets one answer of a request apart from plain sampling. */
export interface AnswerOptions {
  readonly drafting?: Drafting;
  /** What its text is held to. */
  readonly constraint?: TokenConstraint;
  /** Tokens that the constraint leaves no choice about go in together, without a pass for each. */
  readonly jumps?: boolean;
  /** See DecoderBackend.draftMargin; given where several tokens may go in at a time. */
  readonly margin?: number;
}

type FinishReason = 'stop' | 'length';

/** Most tokens that go in at a time for one answer: the others of the pass wait for them. */
const mostAtOnce = 16;

/** One of the n answers while it is being written. */
export class Answer {
  private readonly text: AnswerText;
  /** Tokens drawn so far, an end token included. */
  tokens = 0;
  /** Sum of the tokens' log probabilities, where answers are compared. */
  logLikelihood = 0;
  finished = false;
  /** The last pass was too close to call: the next one must be over a single token. */
  needsPlainPass = false;
  /** Tokens drawn that have not gone in yet. */
  private pending: readonly number[] = [];
  private entering = 0;
  private drafts: readonly number[] = [];

  constructor(
    private readonly choice: number,
    readonly sequence: DecoderSequence,
    private readonly sampler: Sampler,
    private readonly limits: AnswerLimits,
    private readonly options: AnswerOptions = {},
  ) {
    this.text = new AnswerText(limits.vocabulary, limits.stops, limits.includeStop);
  }

  /** What goes in next: tokens drawn, and guesses of what follows them; only one token unless `several` may. */
  nextItem(several: boolean): ForwardItem {
    const tokens = this.pending.slice(0, several ? mostAtOnce : 1);
    const complete = tokens.length === this.pending.length;
    this.entering = tokens.length;
    this.drafts = several && complete ? this.guess(mostAtOnce - tokens.length) : [];
    const logits = complete ? 1 + this.drafts.length : 0;
    return { sequence: this.sequence, tokens: [...tokens, ...this.drafts], logits };
  }

  /**
   * Draws tokens from the logits behind the tokens that went in, as far as the guesses were right, and takes the others
   * back. Returns what became certain; undefined when nothing did.
   * @param wide The pass was over several tokens, of this answer or of one beside it.
   */
  advance(rows: readonly Float32Array[], wide: boolean): GenerationEvent | undefined {
    const last = this.pending[this.entering - 1];
    this.pending = this.pending.slice(this.entering);
    this.entering = 0;
    if (rows.length === 0) return undefined;
    const pieces: AnswerPiece[] = [];
    const before = this.sequence.length - rows.length;
    const drawn: number[] = [];
    let finishReason = this.emptyEnd();
    for (const logits of finishReason ? [] : rows) {
      this.needsPlainPass = wide && this.isTooClose(logits);
      if (this.needsPlainPass) break;
      const token = this.sampler.sample(logits, this.restriction);
      drawn.push(token.id);
      finishReason = this.note(token, pieces);
      if (finishReason || token.id !== this.drafts[drawn.length - 1]) break;
    }
    if (drawn.length < rows.length) this.sequence.truncate?.(before + drawn.length);
    this.pending = [drawn.at(-1) ?? last].filter((token) => token !== undefined);
    if (!finishReason && !this.needsPlainPass) finishReason = this.jump(pieces);
    if (finishReason) {
      this.finished = true;
      return { ...this.event(pieces), finishReason };
    }
    return pieces.some(({ tokens }) => tokens.length > 0) ? this.event(pieces) : undefined;
  }

  /** Frees what the answer holds. Calling it again does nothing. */
  release(): void {
    this.sequence.release();
  }

  /** The text is complete before its first token. */
  private emptyEnd(): FinishReason | undefined {
    return this.tokens === 0 ? this.endOfConstraint() : undefined;
  }

  private guess(most: number): readonly number[] {
    const { drafting, constraint } = this.options;
    const room = this.limits.maxTokens - this.tokens - 1;
    const count = drafting ? Math.min(drafting.maxDrafts, most, room) : 0;
    if (count <= 0) return [];
    const guesses = drafting!.lookup.guess(count);
    return constraint ? guesses.slice(0, constraint.admissible(guesses)) : guesses;
  }

  private isTooClose(logits: Float32Array): boolean {
    const { margin } = this.options;
    return margin !== undefined && !this.sampler.isClear(logits, margin, this.restriction);
  }

  private get restriction(): ((logits: Float32Array) => void) | undefined {
    const { constraint } = this.options;
    return constraint && ((logits) => constraint.restrict(logits, this.limits.endTokenIds));
  }

  /** Tokens without a choice need no pass to be known; they go in with the next one. */
  private jump(pieces: AnswerPiece[]): FinishReason | undefined {
    const { constraint, jumps } = this.options;
    if (!jumps) return undefined;
    for (let id = constraint?.forced; id !== undefined; id = constraint?.forced) {
      this.pending = [...this.pending, id];
      const finishReason = this.note(this.sampler.take(id), pieces);
      if (finishReason) return finishReason;
    }
    return undefined;
  }

  /** Adds a token to the text; says why the answer ends with it. */
  private note(token: SampledToken, pieces: AnswerPiece[]): FinishReason | undefined {
    this.tokens++;
    this.logLikelihood += token.logLikelihood ?? 0;
    if (this.limits.endTokenIds.has(token.id)) {
      pieces.push(this.text.finish());
      return 'stop';
    }
    this.options.drafting?.lookup.append([token.id]);
    const piece = this.text.push(token);
    pieces.push(piece);
    if (piece.stopped) return 'stop';
    this.options.constraint?.accept(token.id);
    const reason = this.endOfConstraint() ?? (this.tokens < this.limits.maxTokens ? undefined : 'length');
    if (reason) pieces.push(this.text.finish());
    return reason;
  }

  /** Where nothing may follow the answer is complete, whether or not the model would say so. */
  private endOfConstraint(): FinishReason | undefined {
    const { constraint } = this.options;
    if (!constraint || constraint.mayContinue) return undefined;
    if (constraint.mayEnd) return 'stop';
    const detail = 'The tokens of this model cannot write what the constraint asks for.';
    throw new MegaNestError('invalid_request', { detail, param: 'constraint' });
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
