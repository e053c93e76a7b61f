/** Sizes of the runs of tokens that are looked up, longest first. */
function* sizesDownFrom(largest: number): Generator<number> {
  for (let size = largest; size >= 1; size--) yield size;
}

/**
 * Guesses what comes next from what was said before: where the last tokens occurred earlier, the tokens that followed
 * there. Answers that quote their passages are guessed well, and a wrong guess costs little.
 */
export class PromptLookup {
  private readonly tokens: number[] = [];
  /** Per size: where a run of so many tokens was last followed by something, as the index of what followed. */
  private readonly continuations: ReadonlyMap<number, Map<string, number>>;

  /** @param maxNgram Length of the longest run to look for. */
  constructor(
    tokens: readonly number[],
    private readonly maxNgram: number,
  ) {
    this.continuations = new Map([...sizesDownFrom(maxNgram)].map((size) => [size, new Map()]));
    this.append(tokens);
  }

  append(tokens: readonly number[]): void {
    for (const token of tokens) {
      const position = this.tokens.length;
      for (const [size, places] of this.continuations) {
        if (position >= size) places.set(this.lastRun(size), position);
      }
      this.tokens.push(token);
    }
  }

  /** Up to `count` tokens that may follow; none where the last tokens are new. */
  guess(count: number): number[] {
    for (const size of sizesDownFrom(Math.min(this.maxNgram, this.tokens.length))) {
      const position = this.continuations.get(size)!.get(this.lastRun(size));
      if (position !== undefined) return this.tokens.slice(position, position + count);
    }
    return [];
  }

  private lastRun(size: number): string {
    return this.tokens.slice(this.tokens.length - size).join(',');
  }
}
