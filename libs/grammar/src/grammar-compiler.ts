import type { TokenVocabulary } from '#models';
import { sequence, text, type Grammar } from './grammar.js';
import { GrammarFollower, TokenConstraint } from './token-constraint.js';
import { GrammarMachine } from './grammar-machine.js';
import { TokenTrie } from './token-trie.js';

/** Grammars that are kept with the masks of their states. */
const mostKept = 32;

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
