import type { CompiledGrammar, GrammarMatcher } from '@mlc-ai/web-xgrammar';
import type { XGrammar } from './xgrammar.js';

/** Where one answer stands in its grammar: which tokens may come next, and whether it may end. */
export class TokenConstraint {
  private mask = new Int32Array(0);
  /** Tokens that may follow, counted up to two. */
  private allowedCount = 0;
  private firstAllowed = 0;

  private constructor(
    private readonly matcher: GrammarMatcher,
    private readonly vocabularySize: number,
  ) {}

  /** At the beginning of the text. The grammar was compiled with a stop token behind the vocabulary. */
  static async start(
    library: XGrammar,
    grammar: CompiledGrammar,
    vocabularySize: number,
  ): Promise<TokenConstraint> {
    const matcher = await library.GrammarMatcher.createGrammarMatcher(grammar);
    const constraint = new TokenConstraint(matcher, vocabularySize);
    await constraint.refresh();
    return constraint;
  }

  /** Whether the text is complete as it stands. */
  get mayEnd(): boolean {
    return this.allows(this.vocabularySize);
  }

  /** Whether any token may follow. */
  get mayContinue(): boolean {
    return this.allowedCount > 0;
  }

  /** The token that has to follow, where the text may not end and only one fits. */
  get forced(): number | undefined {
    return this.allowedCount === 1 && !this.mayEnd ? this.firstAllowed : undefined;
  }

  allows(token: number): boolean {
    return ((this.mask[token >> 5]! >>> (token & 31)) & 1) === 1;
  }

  /** Sets the logits of tokens that may not follow to −Infinity, in place; `ends` may where the text may end. */
  restrict(logits: Float32Array, ends: ReadonlySet<number>): void {
    const { mayEnd } = this;
    for (let start = 0; start < logits.length; start += 32) {
      const word = this.mask[start >> 5]!;
      // Most words of a large vocabulary are all or nothing.
      if (word === -1) continue;
      const end = Math.min(start + 32, logits.length);
      for (let token = start; token < end; token++) {
        if (((word >>> (token & 31)) & 1) === 1 || (mayEnd && ends.has(token))) continue;
        logits[token] = Number.NEGATIVE_INFINITY;
      }
    }
  }

  /** Moves on by a token that was allowed. */
  async accept(token: number): Promise<void> {
    if (!this.matcher.acceptToken(token))
      throw new Error(`The grammar refuses token ${token} that it allowed.`);
    await this.refresh();
  }

  /** How many of these tokens could follow one after another. */
  admissible(tokens: readonly number[]): number {
    let count = 0;
    while (count < tokens.length && this.matcher.acceptToken(tokens[count]!)) count++;
    if (count > 0) this.matcher.rollBack(count);
    return count;
  }

  /** Frees its memory. Calling it again does nothing. */
  dispose(): void {
    if (this.mask.length === 0) return;
    this.mask = new Int32Array(0);
    this.matcher.dispose();
  }

  private async refresh(): Promise<void> {
    this.mask = (await this.matcher.getNextTokenBitmask()) as Int32Array<ArrayBuffer>;
    this.allowedCount = 0;
    for (const [index, word] of this.mask.entries()) {
      if (word === 0) continue;
      this.countWord(index, word);
      if (this.allowedCount > 1) return;
    }
  }

  private countWord(index: number, word: number): void {
    for (let bit = 0; bit < 32; bit++) {
      const token = index * 32 + bit;
      if (((word >>> bit) & 1) === 0 || token >= this.vocabularySize) continue;
      if (this.allowedCount++ === 0) this.firstAllowed = token;
      if (this.allowedCount > 1) return;
    }
  }
}
