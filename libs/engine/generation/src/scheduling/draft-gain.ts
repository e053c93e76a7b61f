/** The last passes count about as much as this many. */
const memory = 8;
/** After this many passes in the faster mode, one pass in the other mode measures that again. */
const patience = 32;

/** Passes before a speed counts. */
const enough = 4;

/** Passes with draft tokens, and passes over single tokens. */
export type DraftMode = 'drafts' | 'plain';

/** Tokens and time of passes; older passes count less. */
class Speed {
  private passes = 0;
  private tokens = 0;
  private milliseconds = 0;

  note(tokens: number, milliseconds: number): void {
    this.passes++;
    const kept = 1 - 1 / memory;
    this.tokens = this.tokens * kept + tokens;
    this.milliseconds = this.milliseconds * kept + milliseconds;
  }

  /** Tokens a millisecond; infinite before the first passes, so that each mode is tried. */
  get value(): number {
    return this.passes < enough ? Number.POSITIVE_INFINITY : this.tokens / this.milliseconds;
  }
}

/**
 * Decides by measured speed whether passes over a number of completions check draft tokens. A pass over drafts can take
 * twice as long as a pass over single tokens (docs/design/generation.md), so that it pays only if drafts are right often enough.
 */
export class DraftGain {
  private readonly modes: Record<DraftMode, Speed> = { drafts: new Speed(), plain: new Speed() };
  /** Passes in the faster mode since the last one in the other mode. */
  private passes = 0;

  /** True if the next pass may check drafts. */
  get allowsDrafts(): boolean {
    const useFaster = this.passes < patience;
    return useFaster === (this.faster === 'drafts');
  }

  /** Records a pass. `tokens`: sampled tokens of all its completions. */
  note(mode: DraftMode, tokens: number, milliseconds: number): void {
    this.passes = mode === this.faster ? this.passes + 1 : 0;
    this.modes[mode].note(tokens, milliseconds);
  }

  private get faster(): DraftMode {
    const { drafts, plain } = this.modes;
    return drafts.value >= plain.value ? 'drafts' : 'plain';
  }
}
