import { deadState, type GrammarMachine } from './grammar-machine.js';
import type { TokenMask, TokenTrie } from './token-trie.js';

/** The state of one completion in its grammar: the tokens that may follow, and whether it may end. */
export class TokenConstraint {
  private machine: GrammarMachine;
  private state: number;
  private mask: TokenMask;

  /** Starts at the beginning of the text. */
  constructor(private readonly follower: GrammarFollower) {
    this.machine = follower.machine;
    this.state = this.machine.start;
    this.mask = follower.maskOf(this.machine, this.state);
  }

  /** True if the text may end here. */
  get mayEnd(): boolean {
    return this.machine.mayEnd(this.state);
  }

  /** True if a token may follow. */
  get mayContinue(): boolean {
    return this.mask.count > 0;
  }

  /** The next token, if the text may not end and only one token is allowed. */
  get forced(): number | undefined {
    return this.mask.count === 1 && !this.mayEnd ? this.mask.first : undefined;
  }

  allows(token: number): boolean {
    return ((this.mask.words[token >> 5]! >>> (token & 31)) & 1) === 1;
  }

  /**
   * Sets the logits of forbidden tokens to −Infinity, in place. The tokens `ends` are allowed if the text may end.
   * Otherwise their probability goes to the token on the shortest way to the end, so that an unlimited string ends when
   * the model wants to end.
   */
  restrict(logits: Float32Array, ends: ReadonlySet<number>): void {
    const { mayEnd } = this;
    if (!mayEnd && ends.size > 0) this.bringToEnd(logits, ends);
    const { words } = this.mask;
    for (let start = 0; start < logits.length; start += 32) {
      const word = words[start >> 5]!;
      // Most words of the mask of a large vocabulary are all ones or all zeros.
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

  /** Advances by an allowed token. */
  accept(token: number): void {
    const state = this.behind(this.state, token);
    if (state === undefined) throw new Error(`The grammar refuses token ${token} that it allowed.`);
    this.state = state;
    if (this.machine.isFull)
      ({ machine: this.machine, state: this.state } = this.follower.renew(this.machine, state));
    this.mask = this.follower.maskOf(this.machine, this.state);
  }

  /** Returns how many of these tokens could follow in sequence. */
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

/** Returns the logit of the summed probability of two tokens. */
function sumOfLogits(one: number, other: number): number {
  const [low, high] = one < other ? [one, other] : [other, one];
  return low === -Infinity ? high : high + Math.log1p(Math.exp(low - high));
}

/** Maximum bytes of cached masks for one grammar. */
const maxMaskBytes = 4 * 2 ** 20;

/** A machine with the masks of its states. */
export class GrammarFollower {
  private masks = new WeakMap<GrammarMachine, Map<number, TokenMask>>();
  private maskBytes = 0;

  constructor(
    /** Machine for new completions. */
    public machine: GrammarMachine,
    readonly trie: TokenTrie,
  ) {}

  /** Returns the tokens that may follow. Errors: invalid_request if this needs too many steps. */
  maskOf(machine: GrammarMachine, state: number): TokenMask {
    const known = this.masks.get(machine)?.get(state);
    if (known) return known;
    machine.refill();
    const mask = this.trie.mask(machine, state);
    this.keep(machine, state, mask);
    return mask;
  }

  /** Replaces a full machine; the running completions move to the new one with their next tokens. */
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
