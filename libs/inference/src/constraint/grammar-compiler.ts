import type { CompiledGrammar, GrammarCompiler as XGrammarCompiler } from '@mlc-ai/web-xgrammar';
import { MegaNestError, type OutputConstraint } from '#contracts';
import type { TokenVocabulary } from '../tokenizer/token-vocabulary.js';
import { ConstraintError } from './constraint-error.js';
import { constraintGrammar, type GrammarSource } from './constraint-grammar.js';
import { symbolsOf } from './symbols.js';
import { TokenConstraint } from './token-constraint.js';
import { loadXGrammar, type XGrammar } from './xgrammar.js';

/** Grammars that are kept compiled. */
const mostKept = 32;

interface Instance {
  readonly library: XGrammar;
  readonly compiler: XGrammarCompiler;
}

/** Makes the constraints of one request's answers. */
export interface CompiledConstraint {
  /** A constraint at the beginning of an answer. */
  start(): Promise<TokenConstraint>;
  /** Once, when the request needs no further ones; those that it has stay usable. */
  release(): void;
}

interface KeptGrammar {
  readonly compiled: CompiledGrammar;
  /** Requests that may still start answers with it. */
  users: number;
  dropped: boolean;
}

/**
 * Compiles constraints for one vocabulary. Nothing is loaded before the first one, unless {@link prepare} is called; the last
 * 32 are kept compiled.
 */
export class GrammarCompiler {
  private instance?: Promise<Instance>;
  private last: Promise<unknown> = Promise.resolve();
  private readonly kept = new Map<string, KeptGrammar>();

  /**
   * @param vocabularySize Tokens that the model has logits for; the tokenizer may know fewer.
   * @param endTokenIds Tokens that end an answer; they are never part of its text.
   */
  constructor(
    private readonly vocabulary: TokenVocabulary,
    private readonly vocabularySize: number,
    private readonly endTokenIds: readonly number[],
  ) {}

  /** Loads the library and tells it the vocabulary, which the first constraint otherwise waits for. */
  async prepare(): Promise<void> {
    await (this.instance ??= this.load());
  }

  /** One at a time. Errors: invalid_request, with the path of what the constraint asks in vain. */
  compile(constraint: OutputConstraint): Promise<CompiledConstraint> {
    const compiled = this.last.then(() => this.compileNext(constraint));
    this.last = compiled.catch(() => undefined);
    return compiled;
  }

  private async compileNext(constraint: OutputConstraint): Promise<CompiledConstraint> {
    const instance = await (this.instance ??= this.load());
    const grammar = await this.grammarOf(instance, constraint);
    grammar.users++;
    return {
      start: () => TokenConstraint.start(instance.library, grammar.compiled, this.vocabularySize),
      release: () => {
        grammar.users--;
        freeUnused(grammar);
      },
    };
  }

  private async grammarOf(instance: Instance, constraint: OutputConstraint): Promise<KeptGrammar> {
    const key = JSON.stringify(constraint);
    const grammar = this.kept.get(key) ?? (await this.compileNew(instance, constraint));
    this.kept.delete(key);
    this.kept.set(key, grammar);
    const [oldest] = this.kept.keys();
    if (this.kept.size > mostKept) this.drop(oldest!);
    return grammar;
  }

  private drop(key: string): void {
    const grammar = this.kept.get(key)!;
    this.kept.delete(key);
    grammar.dropped = true;
    freeUnused(grammar);
  }

  private async compileNew({ compiler }: Instance, constraint: OutputConstraint): Promise<KeptGrammar> {
    const source = this.sourceOf(constraint);
    try {
      const compiled = await ('ebnf' in source
        ? compiler.compileGrammar(source.ebnf)
        : compiler.compileStructuralTag({ ...source.structuralTag }));
      return { compiled, users: 0, dropped: false };
    } catch (cause) {
      // An error unwinds past the library's own clean-up: what it did with its memory is unknown.
      this.instance = undefined;
      this.kept.clear();
      const detail = 'The grammar could not be compiled.';
      throw new MegaNestError('invalid_request', { detail, param: 'constraint', cause });
    }
  }

  private sourceOf(constraint: OutputConstraint): GrammarSource {
    try {
      return constraintGrammar(constraint, this.vocabulary.droppedSpaces);
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error;
      const param = ['constraint', ...error.path].join('.');
      throw new MegaNestError('invalid_request', {
        detail: `${param}: ${error.reason}`,
        param,
        cause: error,
      });
    }
  }

  /** The vocabulary as symbols, and one token more that stands for "the text may end here". */
  private async load(): Promise<Instance> {
    const library = await loadXGrammar();
    const end = this.vocabularySize;
    const info = await library.TokenizerInfo.createTokenizerInfo(
      [...this.tokenSymbols(), 'end'],
      'raw',
      false,
      end + 1,
      [end],
    );
    return { library, compiler: await library.GrammarCompiler.createGrammarCompiler(info, false) };
  }

  /**
   * What each token stands for; nothing for those that are no text. Of tokens with the same bytes only the last is left,
   * which is the piece rather than the byte it falls back to: two ways to write a letter leave no choice about the text.
   */
  private tokenSymbols(): string[] {
    const symbols = Array.from({ length: this.vocabularySize }, (_unused, id) =>
      this.endTokenIds.includes(id) ? '' : symbolsOf(this.vocabulary.bytesOf(id)),
    );
    const last = new Map(symbols.map((token, id) => [token, id]));
    return symbols.map((token, id) => (last.get(token) === id ? token : ''));
  }
}

/** Answers that are being written keep alive what they need of it. */
function freeUnused({ compiled, users, dropped }: KeptGrammar): void {
  if (dropped && users === 0) compiled.dispose();
}
