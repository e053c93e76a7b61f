import { bothCases, characterSet, charactersOf } from '../regex/character-set.js';
import { assertReadable, ConstraintError } from '../constraint-error.js';
import {
  characters,
  choice,
  repeat,
  rule,
  sequence,
  text,
  type Grammar,
  type GrammarNode,
} from '../grammar.js';
import { escapeGrammar } from '../json-schema/json-grammar.js';
import { expressionGrammar } from './lark-expression.js';
import { larkLibrary } from './lark-library.js';
import { isTerminal, larkError, parseLark, type LarkNode, type LarkSource } from './lark-source.js';

/**
 * The texts of a grammar in Lark, as OpenAI's custom tools take it: rules, terminals, `%ignore`, and the terminals of
 * `%import common`. They are those that some division into terminals allows, as with Lark's Earley parser; a lexer that
 * always takes the longest terminal would allow fewer. Throws ConstraintError that names what is not supported.
 */
export function larkGrammar(source: string): Grammar {
  assertReadable(source);
  return new LarkCompiler(source).compile();
}

/** The same texts as they stand between the quotes of a JSON string. */
export function quotedLarkGrammar(source: string): Grammar {
  const { root, rules } = larkGrammar(source);
  const escaped = new Map([...rules].map(([name, node]) => [name, escapeGrammar(node)]));
  return { root: escapeGrammar(root), rules: escaped };
}

const startRule = 'start';
const ignoredRule = 'ignored';

class LarkCompiler {
  private readonly lark: LarkSource;
  private readonly rules = new Map<string, GrammarNode>();

  constructor(private readonly source: string) {
    this.lark = parseLark(source);
  }

  compile(): Grammar {
    const { definitions, ignored, imports } = this.lark;
    if (!definitions.has(startRule)) throw new ConstraintError(`There is no rule "${startRule}".`);
    if (ignored.length > 0) {
      const options = ignored.map((node) => this.convert(node, true));
      this.rules.set(ignoredRule, repeat(choice(...options), 0));
    }
    for (const [name, { name: known, at }] of imports)
      this.rules.set(ruleName(name), this.library(known, at));
    for (const [name, node] of definitions)
      this.rules.set(ruleName(name), this.convert(node, isTerminal(name)));
    const start = rule(ruleName(startRule));
    return { root: ignored.length > 0 ? sequence(rule(ignoredRule), start) : start, rules: this.rules };
  }

  private library(name: string, at: number): GrammarNode {
    const expression = Object.hasOwn(larkLibrary, name) ? larkLibrary[name] : undefined;
    if (expression === undefined)
      throw larkError(this.source, at, `%import common.${name} is not supported.`);
    return expressionGrammar(expression);
  }

  /** `within`: inside a terminal, where nothing is ignored. */
  private convert(node: LarkNode, within: boolean): GrammarNode {
    switch (node.kind) {
      case 'sequence':
        return sequence(...node.parts.map((part) => this.convert(part, within)));
      case 'choice':
        return choice(...node.options.map((option) => this.convert(option, within)));
      case 'repeat':
        return repeat(this.convert(node.item, within), node.min, node.max);
      case 'name':
        return this.reference(node.name, node.at, within);
      default:
        return this.spaced(this.literal(node), within);
    }
  }

  private reference(name: string, at: number, within: boolean): GrammarNode {
    if (!this.lark.definitions.has(name) && !this.lark.imports.has(name))
      throw larkError(this.source, at, `${name} is not defined.`);
    const found = rule(ruleName(name));
    if (isTerminal(name)) return this.spaced(found, within);
    if (within) throw larkError(this.source, at, `${name} is a rule, which no terminal can hold.`);
    return found;
  }

  private literal(node: Extract<LarkNode, { kind: 'text' | 'regex' | 'range' }>): GrammarNode {
    if (node.kind === 'range') return characters(characterSet([node.first, node.last]));
    if (node.kind === 'text') return node.ignoreCase ? anyCase(node.text) : text(node.text);
    try {
      return expressionGrammar(node.pattern, node.flags);
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error;
      throw larkError(this.source, node.at, error.reason);
    }
  }

  /** What is ignored may follow every terminal. */
  private spaced(terminal: GrammarNode, within: boolean): GrammarNode {
    return within || this.lark.ignored.length === 0 ? terminal : sequence(terminal, rule(ignoredRule));
  }
}

function anyCase(value: string): GrammarNode {
  const letters = Array.from(value, (letter) => characters(bothCases(charactersOf(letter)) ?? []));
  return sequence(...letters);
}

/** Apart from the rules of the grammar's own. */
function ruleName(name: string): string {
  return `l_${name}`;
}
