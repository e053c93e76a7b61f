import type { RandomSource } from '#models';
import type { WhisperSettings } from './whisper-settings.js';

export interface ChosenToken {
  readonly token: number;
  /** Logarithm of its probability among the tokens that were allowed. */
  readonly logProbability: number;
}

/**
 * Which tokens may follow, as Whisper was trained (Radford et al. 2022, the reference's `decoding.py`): nothing that is
 * no text, and with timestamps: one at the beginning, not too late; pairs between segments; never backwards; a timestamp
 * where timestamps together are likelier than any text.
 */
export class TokenRules {
  private readonly end: number;
  private readonly firstTimestamp: number;

  constructor(
    private readonly settings: WhisperSettings,
    private readonly timestamps: boolean,
  ) {
    this.end = settings.marks.end;
    this.firstTimestamp = settings.marks.firstTimestamp;
  }

  /**
   * The next token after those generated so far; temperature 0 takes the likeliest. `scores` are logarithms of
   * probabilities of the whole vocabulary and are changed: what is not allowed becomes −∞.
   */
  choose(
    scores: Float32Array,
    generated: readonly number[],
    { temperature, random }: { temperature: number; random: RandomSource },
  ): ChosenToken {
    const masked = new MaskedScores(scores);
    const { suppressed, suppressedAtBegin } = this.settings;
    for (const id of suppressed) masked.remove(id, id + 1);
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
      // A pair is complete: text follows. A single one ends a segment: the next one's begin, or the end.
      if (isTime(generated.at(-2))) masked.remove(firstTimestamp, Infinity);
      else masked.keepFrom(end);
    }
    this.#forbidThePast(masked, generated);
    if (masked.logSum(firstTimestamp, Infinity) > masked.score(masked.likeliest(firstTimestamp)))
      masked.keepFrom(firstTimestamp);
  }

  #begin(masked: MaskedScores): void {
    const { latestBegin } = this.settings;
    masked.keepFrom(this.firstTimestamp);
    if (latestBegin !== undefined) masked.remove(this.firstTimestamp + latestBegin + 1, Infinity);
  }

  /** A segment ends later than it began; the next one begins when it ended, or later. */
  #forbidThePast(masked: MaskedScores, generated: readonly number[]): void {
    const { firstTimestamp } = this;
    const last = generated.findLast((token) => token >= firstTimestamp);
    if (last === undefined) return;
    const endsASegment =
      generated.at(-1)! >= firstTimestamp && (generated.at(-2) ?? Infinity) < firstTimestamp;
    masked.remove(firstTimestamp, endsASegment ? last : last + 1);
  }
}

/** Scores of which some are taken away; knows what probability they had, so that the rest needs no second softmax. */
class MaskedScores {
  /** Probability of what was removed one by one. */
  private removed = 0;
  /** Everything before this is gone. */
  private first = 0;

  constructor(private readonly scores: Float32Array) {}

  /** Takes ids from `from` up to `to` (excluded) away. */
  remove(from: number, to: number): void {
    const { scores } = this;
    for (let id = from; id < Math.min(to, scores.length); id++) {
      this.removed += Math.exp(scores[id]!);
      scores[id] = -Infinity;
    }
  }

  /** Takes everything before an id away. */
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

  /** The likeliest of the ids before `to`. */
  likeliest(to = this.scores.length): number {
    const { scores } = this;
    let best = Math.min(this.first, to - 1);
    let most = scores[best]!;
    for (let id = best + 1; id < to; id++)
      if (scores[id]! > most) {
        best = id;
        most = scores[id]!;
      }
    return best;
  }

  choose(temperature: number, random: RandomSource): ChosenToken {
    const token = temperature > 0 ? this.#draw(temperature, random) : this.likeliest();
    return { token, logProbability: this.scores[token]! - this.#logTotal() };
  }

  #draw(temperature: number, random: RandomSource): number {
    const { scores, first } = this;
    const most = this.score(this.likeliest());
    const weight = (id: number) => Math.exp((scores[id]! - most) / temperature);
    let sum = 0;
    for (let id = first; id < scores.length; id++) sum += weight(id);
    let rest = random() * sum;
    for (let id = first; id < scores.length; id++) {
      rest -= weight(id);
      if (rest < 0) return id;
    }
    return this.likeliest();
  }

  /** Logarithm of the probability that is left; summed up anew only where the difference would be inexact. */
  #logTotal(): number {
    if (this.first === 0 && this.removed < 0.999) return Math.log1p(-this.removed);
    return this.logSum(this.first, Infinity);
  }
}
