import type { RandomSource } from '#engine/models';
import type { WhisperSettings } from './whisper-settings.js';

/** A sampled token. */
export interface ChosenToken {
  readonly token: number;
  /** Log probability among the allowed tokens. */
  readonly logProbability: number;
}

/**
 * The tokens that may follow, as Whisper was trained (Radford et al. 2022, `decoding.py` of the reference): not
 * special tokens, and with timestamps: one at the beginning, not too late; pairs between segments; never backwards;
 * and a timestamp if timestamps together are more likely than any text token.
 */
export class TokenRules {
  private readonly end: number;
  private readonly firstTimestamp: number;

  constructor(
    private readonly settings: WhisperSettings,
    private readonly timestamps: boolean,
    /** Further tokens that never follow. */
    private readonly forbidden: readonly number[] = [],
  ) {
    this.end = settings.marks.end;
    this.firstTimestamp = settings.marks.firstTimestamp;
  }

  /**
   * Samples the next token; temperature 0 takes the most likely one. `scores` are log probabilities of the whole
   * vocabulary; the scores of forbidden tokens become −∞.
   */
  choose(
    scores: Float32Array,
    generated: readonly number[],
    { temperature, random }: { temperature: number; random: RandomSource },
  ): ChosenToken {
    const masked = new MaskedScores(scores);
    const { suppressed, suppressedAtBegin } = this.settings;
    for (const id of suppressed) masked.remove(id, id + 1);
    for (const id of this.forbidden) masked.remove(id, id + 1);
    if (generated.length === 0) for (const id of suppressedAtBegin) masked.remove(id, id + 1);
    if (this.timestamps) this.#applyTimestampRules(masked, generated);
    return masked.choose(temperature, random);
  }

  #applyTimestampRules(masked: MaskedScores, generated: readonly number[]): void {
    const { end, firstTimestamp } = this;
    const { noTimestamps } = this.settings.marks;
    masked.remove(noTimestamps, noTimestamps + 1);
    if (generated.length === 0) return this.#begin(masked);
    const isTime = (token: number | undefined) => token === undefined || token >= firstTimestamp;
    if (isTime(generated.at(-1))) {
      // After a complete pair text follows. A single timestamp ends a segment, so the next segment's start or the
      // end follows.
      if (isTime(generated.at(-2))) masked.remove(firstTimestamp, Infinity);
      else masked.keepFrom(end);
    }
    this.#forbidThePast(masked, generated);
    if (masked.logSum(firstTimestamp, Infinity) > masked.score(masked.likeliest(firstTimestamp)))
      masked.keepFrom(firstTimestamp);
  }

  #begin(masked: MaskedScores): void {
    const { maxInitialTimestamp } = this.settings;
    masked.keepFrom(this.firstTimestamp);
    if (maxInitialTimestamp !== undefined)
      masked.remove(this.firstTimestamp + maxInitialTimestamp + 1, Infinity);
  }

  /** A segment ends after it begins; the next one begins at its end or later. */
  #forbidThePast(masked: MaskedScores, generated: readonly number[]): void {
    const { firstTimestamp } = this;
    const last = generated.findLast((token) => token >= firstTimestamp);
    if (last === undefined) return;
    const endsASegment =
      generated.at(-1)! >= firstTimestamp && (generated.at(-2) ?? Infinity) < firstTimestamp;
    masked.remove(firstTimestamp, endsASegment ? last : last + 1);
  }
}

/**
 * Log probabilities of which some are masked. It tracks the masked probability, so that a second softmax is not
 * necessary.
 */
class MaskedScores {
  /** Probability of the tokens that were removed one by one. */
  private removed = 0;
  /** All tokens before this one are removed. */
  private first = 0;

  constructor(private readonly scores: Float32Array) {}

  /** Removes the ids from `from` to `to` (excluded). */
  remove(from: number, to: number): void {
    const { scores } = this;
    for (let id = from; id < Math.min(to, scores.length); id++) {
      this.removed += Math.exp(scores[id]!);
      scores[id] = -Infinity;
    }
  }

  /** Removes all ids before `id`. */
  keepFrom(id: number): void {
    this.scores.fill(-Infinity, this.first, id);
    this.first = Math.max(this.first, id);
  }

  logSum(from: number, to: number): number {
    let sum = 0;
    for (let id = from; id < Math.min(to, this.scores.length); id++) sum += Math.exp(this.scores[id]!);
    return Math.log(sum);
  }

  score(id: number): number {
    return this.scores[id]!;
  }

  /** Returns the most likely id before `to`. */
  likeliest(to = this.scores.length): number {
    const { scores } = this;
    let best = Math.min(this.first, to - 1);
    let highest = scores[best]!;
    for (let id = best + 1; id < to; id++)
      if (scores[id]! > highest) {
        best = id;
        highest = scores[id]!;
      }
    return best;
  }

  choose(temperature: number, random: RandomSource): ChosenToken {
    const token = temperature > 0 ? this.#draw(temperature, random) : this.likeliest();
    return { token, logProbability: this.scores[token]! - this.#logTotal() };
  }

  #draw(temperature: number, random: RandomSource): number {
    const { scores, first } = this;
    const highest = this.score(this.likeliest());
    const weight = (id: number) => Math.exp((scores[id]! - highest) / temperature);
    let sum = 0;
    for (let id = first; id < scores.length; id++) sum += weight(id);
    let rest = random() * sum;
    for (let id = first; id < scores.length; id++) {
      rest -= weight(id);
      if (rest < 0) return id;
    }
    return this.likeliest();
  }

  /** Log of the remaining probability; recomputed only if the difference would be inexact. */
  #logTotal(): number {
    if (this.first === 0 && this.removed < 0.999) return Math.log1p(-this.removed);
    return this.logSum(this.first, Infinity);
  }
}
