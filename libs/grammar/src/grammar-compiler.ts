import { invalidField, type OutputConstraint } from '#contracts';
import { type TokenVocabulary, TimedWorker } from '#models';
import { builtFile } from '#paths';
import { GrammarMachine, deadState } from './grammar-machine.js';
import { sequence, text, type Grammar } from './grammar.js';
import { GrammarFollower, TokenConstraint } from './token-constraint.js';
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

/** Milliseconds that one constraint may take to read, and constraints that are kept. */
const longestReading = 5000;
const keptReadings = 64;

/**
 * Reads constraints in a thread of its own, one after another: an expression, a schema or a grammar of a caller's that takes too
 * long ends that thread, and nothing else waits for it.
 */
export class ConstraintReader {
  private readonly worker: TimedWorker<OutputConstraint, Grammar>;
  private readonly kept = new Map<string, ReadConstraint>();

  constructor(private readonly limitMs = longestReading) {
    this.worker = new TimedWorker(() => builtFile('constraint-reader.worker'), limitMs);
  }

  /** Errors: invalid_request with the path of what cannot be honored, or where reading takes too long; cancelled. */
  async read(constraint: OutputConstraint, signal?: AbortSignal): Promise<ReadConstraint> {
    const key = JSON.stringify(constraint);
    const known = this.kept.get(key);
    if (known) return known;
    const tooLong = () => invalidField('constraint', `It takes longer than ${this.limitMs} ms to read.`);
    const read = { key, grammar: await this.worker.run(constraint, tooLong, signal) };
    this.kept.set(key, read);
    const [oldest] = this.kept.keys();
    if (this.kept.size > keptReadings) this.kept.delete(oldest!);
    return read;
  }

  close(): Promise<void> {
    return this.worker.close();
  }
}

const utf8 = new TextEncoder();

/** Whether a whole text is one of those that a grammar allows. Errors: invalid_request where it can be read in too many ways. */
export function textFits(grammar: Grammar, text: string): boolean {
  let machine = new GrammarMachine(grammar);
  let state = machine.start;
  for (const byte of utf8.encode(text)) {
    machine.refill();
    state = machine.step(state, byte);
    if (state === deadState) return false;
    if (machine.isFull) ({ machine, state } = machine.continued(state));
  }
  return machine.mayEnd(state);
}
