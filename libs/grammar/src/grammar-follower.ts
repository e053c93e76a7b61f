import type { GrammarMachine } from './grammar-machine.js';
import type { TokenMask, TokenTrie } from './token-trie.js';

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
