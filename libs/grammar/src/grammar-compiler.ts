import type { TokenVocabulary } from '#models';
import { sequence, text, type Grammar } from './grammar.js';
import { GrammarMachine } from './grammar-machine.js';
import { TokenConstraint } from './token-constraint.js';
import { TokenTrie, type TokenMask } from './token-trie.js';

/** Grammars that are kept with what was learnt of them, and bytes of masks of each. */
const mostKept = 32;
const mostMaskBytes = 4 * 2 ** 20;

/** Makes the constraints of one request's answers. */
export interface CompiledConstraint {
  /** A constraint at the beginning of an answer. Errors: invalid_request where the grammar is too ambiguous. */
  start(): TokenConstraint;
}

/** A constraint as it was read elsewhere. */
export interface ReadConstraint {
  /** The same for equal constraints. */
  readonly key: string;
  readonly grammar: Grammar;
}

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
    if (this.maskBytes > mostMaskBytes) {
      this.masks = new WeakMap();
      this.maskBytes = mask.words.byteLength;
    }
    const own = this.masks.get(machine) ?? new Map<number, TokenMask>();
    own.set(state, mask);
    this.masks.set(machine, own);
  }
}

/** Makes constraints of grammars for one vocabulary. What was learnt of the last 32 grammars is kept. */
export class GrammarCompiler {
  private trie?: TokenTrie;
  private readonly kept = new Map<string, GrammarFollower>();

  /**
   * @param vocabularySize Tokens that the model has logits for; the tokenizer may know fewer.
   * @param endTokenIds Tokens that end an answer; they are never part of its text.
   */
  constructor(
    private readonly vocabulary: TokenVocabulary,
    private readonly vocabularySize: number,
    private readonly endTokenIds: readonly number[],
  ) {}

  /** Sorts the vocabulary, which the first constraint otherwise waits for. */
  prepare(): void {
    this.trie ??= new TokenTrie(this.vocabulary, this.vocabularySize, this.endTokenIds);
  }

  /** Takes no time worth speaking of: a grammar is followed where answers get to, and nowhere else. */
  compile({ key, grammar }: ReadConstraint): CompiledConstraint {
    this.prepare();
    const follower = this.kept.get(key) ?? this.newFollower(grammar);
    this.kept.delete(key);
    this.kept.set(key, follower);
    const [oldest] = this.kept.keys();
    if (this.kept.size > mostKept) this.kept.delete(oldest!);
    return { start: () => new TokenConstraint(follower) };
  }

  /** Decoding drops spaces in front of an answer: its tokens begin with them. */
  private newFollower({ root, rules }: Grammar): GrammarFollower {
    const spaces = ' '.repeat(this.vocabulary.droppedSpaces);
    const machine = new GrammarMachine({ root: spaces === '' ? root : sequence(text(spaces), root), rules });
    return new GrammarFollower(machine, this.trie!);
  }
}
