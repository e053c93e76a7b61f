import { deadState, type GrammarMachine } from './grammar-machine.js';
import type { TokenMask, TokenTrie } from './token-trie.js';

/** Where one answer stands in its grammar: which tokens may come next, and whether it may end. */
export class TokenConstraint {
  private machine: GrammarMachine;
  private state: number;
  private mask: TokenMask;

  /** At the beginning of the text. */
  constructor(private readonly follower: GrammarFollower) {
    this.machine = follower.machine;
    this.state = this.machine.start;
    this.mask = follower.maskOf(this.machine, this.state);
  }

  /** Whether the text is complete as it stands. */
  get mayEnd(): boolean {
    return this.machine.mayEnd(this.state);
  }

  /** Whether any token may follow. */
  get mayContinue(): boolean {
    return this.mask.count > 0;
  }

  /** The token that has to follow, where the text may not end and only one fits. */
  get forced(): number | undefined {
    return this.mask.count === 1 && !this.mayEnd ? this.mask.first : undefined;
  }

  allows(token: number): boolean {
    return ((this.mask.words[token >> 5]! >>> (token & 31)) & 1) === 1;
  }

  /**
   * Sets the logits of tokens that may not follow to −Infinity, in place; `ends` may where the text may end. Where it may not, their
   * probability goes to the token on the shortest way there: a string without a limit ends where the model would.
   */
  restrict(logits: Float32Array, ends: ReadonlySet<number>): void {
    const { mayEnd } = this;
    if (!mayEnd && ends.size > 0) this.bringToEnd(logits, ends);
    const { words } = this.mask;
    for (let start = 0; start < logits.length; start += 32) {
      const word = words[start >> 5]!;
      // Most words of a large vocabulary are all or nothing.
      if (word === -1) continue;
      const end = Math.min(start + 32, logits.length);
      for (let token = start; token < end; token++) {
        if (((word >>> (token & 31)) & 1) === 1 || (mayEnd && ends.has(token))) continue;
        logits[token] = Number.NEGATIVE_INFINITY;
      }
    }
  }

  private bringToEnd(logits: Float32Array, ends: ReadonlySet<number>): void {
    const byte = this.machine.closing(this.state);
    const closing = byte === deadState ? -1 : this.follower.trie.tokenOf(byte);
    if (closing < 0) return;
    for (const end of ends) logits[closing] = sumOfLogits(logits[closing]!, logits[end] ?? -Infinity);
  }

  /** Moves on by a token that was allowed. */
  accept(token: number): void {
    const state = this.behind(this.state, token);
    if (state === undefined) throw new Error(`The grammar refuses token ${token} that it allowed.`);
    this.state = state;
    if (this.machine.isFull)
      ({ machine: this.machine, state: this.state } = this.follower.renew(this.machine, state));
    this.mask = this.follower.maskOf(this.machine, this.state);
  }

  /** How many of these tokens could follow one after another. */
  admissible(tokens: readonly number[]): number {
    let count = 0;
    for (let state: number | undefined = this.state; count < tokens.length; count++) {
      state = this.behind(state, tokens[count]!);
      if (state === undefined) break;
    }
    return count;
  }

  private behind(from: number, token: number): number | undefined {
    const bytes = this.follower.trie.bytesOf(token);
    if (bytes.length === 0) return undefined;
    let state = from;
    for (const byte of bytes) {
      state = this.machine.step(state, byte);
      if (state === deadState) return undefined;
    }
    return state;
  }
}

/** The logit of either of two tokens. */
function sumOfLogits(one: number, other: number): number {
  const [low, high] = one < other ? [one, other] : [other, one];
  return low === -Infinity ? high : high + Math.log1p(Math.exp(low - high));
}

/** Bytes of masks that are kept for one grammar. */
const maxMaskBytes = 4 * 2 ** 20;

/** A machine with the masks of its states. */
export class GrammarFollower {
  private masks = new WeakMap<GrammarMachine, Map<number, TokenMask>>();
  private maskBytes = 0;

  constructor(
    /** What new answers begin with. */
    public machine: GrammarMachine,
    readonly trie: TokenTrie,
  ) {}

  /** The tokens that may follow. Errors: invalid_request where that takes too long to find. */
  maskOf(machine: GrammarMachine, state: number): TokenMask {
    const known = this.masks.get(machine)?.get(state);
    if (known) return known;
    machine.refill();
    const mask = this.trie.mask(machine, state);
    this.keep(machine, state, mask);
    return mask;
  }

  /** Another machine in the place of a full one, which its answers leave one after another. */
  renew(full: GrammarMachine, state: number): { machine: GrammarMachine; state: number } {
    const renewed = full.continued(state);
    if (this.machine === full) this.machine = renewed.machine;
    return renewed;
  }

  private keep(machine: GrammarMachine, state: number, mask: TokenMask): void {
    this.maskBytes += mask.words.byteLength;
    if (this.maskBytes > maxMaskBytes) {
      this.masks = new WeakMap();
      this.maskBytes = mask.words.byteLength;
    }
    const own = this.masks.get(machine) ?? new Map<number, TokenMask>();
    own.set(state, mask);
    this.masks.set(machine, own);
  }
}
