import type { TokenVocabulary } from '#engine/models';
import { ConstraintError, type TokenConstraint } from '#engine/grammar';
import { CompletionText, type CompletionPiece, type CompletionToken } from './completion-text.js';
import type { Repetition } from './repetition.js';
import type { SampledToken, Sampler } from '../sampling/sampler.js';
import type { DecoderSequence, ForwardItem } from '../decoder-backend.js';
import type { GenerationEvent } from '../generator-interface.js';
import type { PromptLookup } from '../sampling/prompt-lookup.js';

/** Conditions that end a completion. */
export interface CompletionLimits {
  readonly vocabulary: TokenVocabulary;
  readonly stops: readonly string[];
  /** End-of-sequence tokens; empty with `ignore_eos`. */
  readonly endTokenIds: ReadonlySet<number>;
  readonly maxTokens: number;
  /** The text includes the stop string that ended it. */
  readonly includeStop: boolean;
  /** Spaces that are dropped at the start of the text; absent: as the vocabulary says. */
  readonly droppedSpaces?: number;
}

/** Prompt-lookup decoding of a completion. */
export interface Drafting {
  readonly lookup: PromptLookup;
  readonly maxDrafts: number;
  /** Passes check drafts whatever their speed is, so that equal requests have equal passes. */
  readonly isSteady: boolean;
}

/** Optional features of a completion. */
export interface CompletionOptions {
  readonly drafting?: Drafting;
  /** Grammar that the text must match. */
  readonly constraint?: TokenConstraint;
  /**
   * Jump-forward decoding: tokens that the constraint leaves no choice about are appended without a pass for each.
   */
  readonly jumpsForward?: boolean;
  /** See DecoderBackend.draftMargin; set if several tokens may be appended in one pass. */
  readonly margin?: number;
  /** How many tokens a pass takes depends on this completion alone, and not on the others of its batch. */
  readonly isRepeatable?: boolean;
  /** Ends the completion with `stop` once it only repeats a token or a phrase. */
  readonly repetition?: Repetition;
}

type FinishReason = 'stop' | 'length';

/** Maximum number of tokens of one completion in a pass, because the other completions wait for the pass. */
const maxTokensPerPass = 16;

/** One of the n completions of a request, while it is generated. */
export class Completion {
  private readonly text: CompletionText;
  /** Number of tokens sampled so far, including an end token. */
  tokens = 0;
  /** Sum of the tokens' log probabilities; computed for `best_of`. */
  logLikelihood = 0;
  finished = false;
  /** The last pass was too close to call, so the next pass must be over a single token. */
  private needsPlainPass = false;
  /** Sampled tokens that are not in the KV cache yet. */
  private pending: readonly number[] = [];
  private entering = 0;
  private drafts: readonly number[] = [];

  constructor(
    private readonly choice: number,
    readonly sequence: DecoderSequence,
    private readonly sampler: Sampler,
    private readonly limits: CompletionLimits,
    private readonly options: CompletionOptions = {},
  ) {
    this.text = new CompletionText(limits.vocabulary, limits.stops, limits.includeStop, limits.droppedSpaces);
  }

  /** True if the last item had draft tokens. */
  get hasDrafts(): boolean {
    return this.drafts.length > 0;
  }

  /** True if its drafts do not depend on their measured gain. */
  get hasSteadyDrafts(): boolean {
    return this.options.drafting?.isSteady ?? false;
  }

  /** True if each completion of its next pass appends one token. */
  get narrowsPass(): boolean {
    return this.needsPlainPass && !this.options.isRepeatable;
  }

  /**
   * Returns the next tokens to append: sampled tokens, then draft tokens.
   * @param mayTakeSeveral The batch allows more than one token; a repeatable completion decides by itself.
   * @param drafts Draft tokens pay at the moment.
   */
  nextItem(mayTakeSeveral: boolean, drafts: boolean): ForwardItem {
    const several = this.options.isRepeatable ? !this.needsPlainPass : mayTakeSeveral;
    const tokens = this.pending.slice(0, several ? maxTokensPerPass : 1);
    const complete = tokens.length === this.pending.length;
    this.entering = tokens.length;
    const guesses = several && complete && (drafts || this.hasSteadyDrafts);
    this.drafts = guesses ? this.guess(maxTokensPerPass - tokens.length) : [];
    const logits = complete ? 1 + this.drafts.length : 0;
    return { sequence: this.sequence, tokens: [...tokens, ...this.drafts], logits };
  }

  /**
   * Samples from the logits after the appended tokens for as long as the drafts are right, and truncates the
   * others. Returns the final text, or undefined if there is not any yet.
   * @param batchIsWide The pass was over several tokens, of this or of another completion of the batch.
   */
  advance(rows: readonly Float32Array[], batchIsWide: boolean): GenerationEvent | undefined {
    const wide = this.options.isRepeatable ? this.entering + this.drafts.length > 1 : batchIsWide;
    const last = this.pending[this.entering - 1];
    this.pending = this.pending.slice(this.entering);
    this.entering = 0;
    if (rows.length === 0) return undefined;
    const pieces: CompletionPiece[] = [];
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
    if (!finishReason && !this.needsPlainPass) finishReason = this.jumpForward(pieces);
    if (finishReason) {
      this.finished = true;
      return { ...this.event(pieces), finishReason };
    }
    return pieces.some(({ tokens }) => tokens.length > 0) ? this.event(pieces) : undefined;
  }

  /** Frees the sequence. A second call does nothing. */
  release(): void {
    this.sequence.release();
  }

  /** The constraint may allow only the empty text. */
  private emptyEnd(): FinishReason | undefined {
    return this.tokens === 0 ? this.endOfConstraint() : undefined;
  }

  private guess(maxGuesses: number): readonly number[] {
    const { drafting, constraint } = this.options;
    const room = this.limits.maxTokens - this.tokens - 1;
    const count = drafting ? Math.min(drafting.maxDrafts, maxGuesses, room) : 0;
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

  /** Appends the tokens that the constraint forces; they enter the KV cache with the next pass. */
  private jumpForward(pieces: CompletionPiece[]): FinishReason | undefined {
    const { constraint, jumpsForward } = this.options;
    if (!jumpsForward) return undefined;
    for (let id = constraint?.forced; id !== undefined; id = constraint?.forced) {
      this.pending = [...this.pending, id];
      const finishReason = this.note(this.sampler.take(id), pieces);
      if (finishReason) return finishReason;
    }
    return undefined;
  }

  /** Adds a token to the text. Returns the finish reason if the completion ends with it. */
  private note(token: SampledToken, pieces: CompletionPiece[]): FinishReason | undefined {
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
    const repeats = this.options.repetition?.append(token.id) ? 'stop' : undefined;
    const reason =
      this.endOfConstraint() ?? repeats ?? (this.tokens < this.limits.maxTokens ? undefined : 'length');
    if (reason) pieces.push(this.text.finish());
    return reason;
  }

  /** If the constraint allows no further token, the completion ends without an end token. */
  private endOfConstraint(): FinishReason | undefined {
    const { constraint } = this.options;
    if (!constraint || constraint.mayContinue) return undefined;
    if (constraint.mayEnd) return 'stop';
    throw new ConstraintError('The tokens of this model cannot write what it asks for.');
  }

  private event(pieces: readonly CompletionPiece[]): GenerationEvent {
    const tokens: CompletionToken[] = pieces.flatMap((piece) => piece.tokens);
    const logprobs = tokens.flatMap(({ logprob }) => logprob ?? []);
    return {
      choice: this.choice,
      text: pieces.map((piece) => piece.text).join(''),
      tokenIds: tokens.map(({ id }) => id),
      ...(logprobs.length > 0 && { logprobs }),
    };
  }
}

/** Collects the events of all completions for `best_of` and returns those with the highest scores. */
export class BestOf {
  private readonly events: GenerationEvent[][] = [];

  /** @param wanted Number of completions to return. */
  constructor(private readonly wanted: number) {}

  add(event: GenerationEvent): void {
    (this.events[event.choice] ??= []).push(event);
  }

  /**
   * Returns one event per completion, best first, with new indices. Of equal scores the earlier one comes first.
   * @param scores Mean log probability of the tokens, per completion.
   */
  choose(scores: readonly number[]): GenerationEvent[] {
    const ranked = scores.map((_score, choice) => choice).sort((a, b) => scores[b]! - scores[a]! || a - b);
    return ranked.slice(0, this.wanted).map((from, choice) => joined(this.events[from] ?? [], choice));
  }
}

function joined(events: readonly GenerationEvent[], choice: number): GenerationEvent {
  const logprobs = events.flatMap((event) => event.logprobs ?? []);
  return {
    choice,
    text: events.map(({ text }) => text).join(''),
    tokenIds: events.flatMap(({ tokenIds }) => tokenIds),
    ...(logprobs.length > 0 && { logprobs }),
    finishReason: events.at(-1)?.finishReason,
  };
}
