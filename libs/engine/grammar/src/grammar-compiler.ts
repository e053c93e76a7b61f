import { invalidField, type OutputConstraint } from '#platform/contracts';
import { type TokenVocabulary, TimedWorker } from '#engine/models';
import { builtFile } from '#platform/foundation';
import { GrammarMachine, deadState } from './grammar-machine.js';
import { sequence, text, type Grammar } from './grammar.js';
import { GrammarFollower, TokenConstraint } from './token-constraint.js';
import { TokenTrie } from './token-trie.js';

/** Maximum number of cached grammars, with the masks of their states. */
const maxKept = 32;

/** Creates the constraints of the completions of one request. */
export interface CompiledConstraint {
  /** Returns a constraint at the start of a completion. Throws ConstraintError if the grammar is too ambiguous. */
  start(): TokenConstraint;
}

/** A parsed constraint. */
export interface ReadConstraint {
  /** Equal for equal constraints. */
  readonly key: string;
  readonly grammar: Grammar;
  /** Says where its parts stand in the request, for errors. */
  readonly constraint: OutputConstraint;
}

/** Compiles grammars to constraints for one vocabulary. Caches the states and masks of the last 32 grammars. */
export class GrammarCompiler {
  private trie?: TokenTrie;
  private readonly kept = new Map<string, GrammarFollower>();

  /**
   * @param vocabularySize Number of logits of the model; the tokenizer may have fewer tokens.
   * @param endTokenIds End-of-sequence tokens; they are never part of the text.
   */
  constructor(
    private readonly vocabulary: TokenVocabulary,
    private readonly vocabularySize: number,
    private readonly endTokenIds: readonly number[],
  ) {}

  /** Sorts the vocabulary in advance; otherwise the first constraint does so. */
  prepare(): void {
    this.trie ??= new TokenTrie(this.vocabulary, this.vocabularySize, this.endTokenIds);
  }

  /** Compiles a constraint. This is fast, because states are computed only when a completion reaches them. */
  compile({ key, grammar }: Pick<ReadConstraint, 'key' | 'grammar'>): CompiledConstraint {
    this.prepare();
    const follower = this.kept.get(key) ?? this.newFollower(grammar);
    this.kept.delete(key);
    this.kept.set(key, follower);
    const [oldest] = this.kept.keys();
    if (this.kept.size > maxKept) this.kept.delete(oldest!);
    return { start: () => new TokenConstraint(follower) };
  }

  /** Allows the spaces at the start of the tokens that decoding drops. */
  private newFollower({ root, rules }: Grammar): GrammarFollower {
    const spaces = ' '.repeat(this.vocabulary.droppedSpaces);
    const machine = new GrammarMachine({ root: spaces === '' ? root : sequence(text(spaces), root), rules });
    return new GrammarFollower(machine, this.trie!);
  }
}

/** Timeout for parsing a constraint in milliseconds, and maximum number of cached constraints. */
const maxReadingMs = 5000;
const keptReadings = 64;

/**
 * Parses constraints one at a time in a separate thread. If a caller's expression, schema or grammar takes too long,
 * the thread is ended, so that other work does not wait for it.
 */
export class ConstraintReader {
  private readonly worker: TimedWorker<OutputConstraint, Grammar>;
  private readonly kept = new Map<string, ReadConstraint>();

  constructor(private readonly limitMs = maxReadingMs) {
    this.worker = new TimedWorker(() => builtFile('constraint-reader.worker'), limitMs);
  }

  /** Errors: invalid_request with the path of the unsupported part, or if parsing takes too long; cancelled. */
  async read(constraint: OutputConstraint, signal?: AbortSignal): Promise<ReadConstraint> {
    const key = JSON.stringify(withoutPaths(constraint));
    const known = this.kept.get(key);
    if (known) return { ...known, constraint };
    const param = constraint.at ?? 'constraint';
    const tooLong = () => invalidField(param, `It takes longer than ${this.limitMs} ms to read.`);
    const read = { key, constraint, grammar: await this.worker.run(constraint, tooLong, signal) };
    this.kept.set(key, read);
    const [oldest] = this.kept.keys();
    if (this.kept.size > keptReadings) this.kept.delete(oldest!);
    return read;
  }

  close(): Promise<void> {
    return this.worker.close();
  }
}

/** The constraint without the paths of its parts, which have no influence on its grammar. */
function withoutPaths({ at: _at, ...constraint }: OutputConstraint): object {
  if (constraint.type !== 'structural_tag') return constraint;
  return { ...constraint, tags: constraint.tags.map(({ at: _place, derived: _derived, ...tag }) => tag) };
}

const utf8 = new TextEncoder();

/** Returns true if a grammar allows a text. Throws ConstraintError if the grammar is too ambiguous for it. */
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
