/** Yields n-gram sizes, largest first. */
function* sizesDownFrom(largest: number): Generator<number> {
  for (let size = largest; size >= 1; size--) yield size;
}

/**
 * Prompt-lookup decoding: if the last tokens occurred earlier, the tokens that followed there are the draft. Drafts
 * for answers that quote passages are often right, and a wrong draft costs little.
 */
export class PromptLookup {
  private readonly tokens: number[] = [];
  /** Per n-gram size: the index of the token that followed the last occurrence of each n-gram. */
  private readonly continuations: ReadonlyMap<number, Map<string, number>>;

  /** @param maxNgram Size of the longest n-gram to look for. */
  constructor(
    tokens: readonly number[],
    private readonly maxNgram: number,
  ) {
    this.continuations = new Map([...sizesDownFrom(maxNgram)].map((size) => [size, new Map()]));
    this.append(tokens);
  }

  /** Adds prompt tokens or sampled tokens. */
  append(tokens: readonly number[]): void {
    for (const token of tokens) {
      const position = this.tokens.length;
      for (const [size, places] of this.continuations) {
        if (position >= size) places.set(this.lastRun(size), position);
      }
      this.tokens.push(token);
    }
  }

  /** Returns up to `count` draft tokens; an empty array if the last tokens are new. */
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
