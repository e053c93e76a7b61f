import {
  assertReadable,
  ConstraintError,
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
import { bothCases, characterSet, charactersOf } from '../regex/character-set.js';
import { regexGrammar } from '../regex/regex-grammar.js';
import { isTerminal, larkError, parseLark, type LarkNode, type LarkSource } from './lark-source.js';

/**
 * Parses a Lark grammar as OpenAI's custom tools support it: rules, terminals, `%ignore`, and the terminals of
 * `%import common`. It allows every text that can be divided into terminals in some way, as Lark's Earley parser does;
 * a lexer that always takes the longest terminal would allow fewer. Throws ConstraintError that names an unsupported
 * feature.
 */
export function larkGrammar(source: string): Grammar {
  assertReadable(source);
  return new LarkCompiler(source).compile();
}

/** Like {@link larkGrammar}, for the texts as JSON string content between the quotes. */
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

  /** `within`: inside a terminal, where `%ignore` has no effect. */
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
    if (within) throw larkError(this.source, at, `${name} is a rule; a terminal cannot contain a rule.`);
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

  /** Allows ignored text after a terminal. */
  private spaced(terminal: GrammarNode, within: boolean): GrammarNode {
    return within || this.lark.ignored.length === 0 ? terminal : sequence(terminal, rule(ignoredRule));
  }
}

function anyCase(value: string): GrammarNode {
  const letters = Array.from(value, (letter) => characters(bothCases(charactersOf(letter)) ?? []));
  return sequence(...letters);
}

/** Adds a prefix, so that names of the source differ from other rule names. */
function ruleName(name: string): string {
  return `l_${name}`;
}

/** Supported flags of Python's expressions; `u` is always on. */
const knownFlags = 'ismu';

/** Converts a regular expression in Python's syntax. Throws ConstraintError for unsupported features. */
function expressionGrammar(pattern: string, flags = ''): GrammarNode {
  const unknown = Array.from(flags).find((flag) => !knownFlags.includes(flag));
  if (unknown !== undefined)
    throw new ConstraintError(`the flag "${unknown}" of an expression is not supported.`);
  const readable = inJavaScript(pattern);
  try {
    // oxlint-disable-next-line no-new -- checks the syntax
    new RegExp(readable, 'u');
  } catch (error) {
    throw new ConstraintError(`${error instanceof Error ? error.message : String(error)}.`);
  }
  const terminal = { ignoreCase: flags.includes('i'), dotAll: flags.includes('s') };
  return regexGrammar(readable, { terminal });
}

/** Converts named groups, unnecessary escapes and single braces, whose syntax differs in JavaScript. */
function inJavaScript(pattern: string): string {
  const parts = pattern.replaceAll('(?P<', '(?<').match(/\\.|\{\d*,?\d*\}|./gsu) ?? [];
  let inClass = false;
  let atStart = false;
  return parts
    .map((part) => {
      const isFirst = atStart;
      atStart = false;
      if (/^\\[^\w^$\\.*+?()[\]{}|/-]$/u.test(part)) return part.slice(1);
      if (part === '\\-') return inClass ? part : '-';
      if (part === '[' && !inClass) {
        inClass = true;
        atStart = true;
      } else if (part === '^' && isFirst) atStart = true;
      else if (part === ']' && isFirst) return '\\]';
      else if (part === ']' && inClass) inClass = false;
      else if (inClass && part === '[') return '\\[';
      else if (!inClass && ['{', '}', ']', '{}', '{,}'].includes(part))
        return part.replaceAll(/[{}\]]/g, '\\$&');
      else if (!inClass && /^\{,\d+\}$/.test(part)) return `{0${part.slice(1)}`;
      return part;
    })
    .join('');
}

/** The terminals of Lark's library `common`, as expressions. */
const int = '[0-9]+';
const decimal = `(?:${int}\\.(?:${int})?|\\.${int})`;
const exponent = `[eE][+-]?${int}`;
const float = `(?:${int}${exponent}|${decimal}(?:${exponent})?)`;
const number = `(?:${float}|${int})`;

const larkLibrary: Readonly<Record<string, string>> = {
  DIGIT: '[0-9]',
  HEXDIGIT: '[0-9A-Fa-f]',
  INT: int,
  SIGNED_INT: `[+-]?${int}`,
  DECIMAL: decimal,
  FLOAT: float,
  SIGNED_FLOAT: `[+-]?${float}`,
  NUMBER: number,
  SIGNED_NUMBER: `[+-]?${number}`,
  ESCAPED_STRING: '"(?:[^"\\\\\\n]|\\\\.)*"',
  LCASE_LETTER: '[a-z]',
  UCASE_LETTER: '[A-Z]',
  LETTER: '[A-Za-z]',
  WORD: '[A-Za-z]+',
  CNAME: '[A-Za-z_][A-Za-z0-9_]*',
  WS_INLINE: '[ \\t]+',
  WS: '[ \\t\\f\\r\\n]+',
  CR: '\\r',
  LF: '\\n',
  NEWLINE: '(?:\\r?\\n)+',
  SH_COMMENT: '#[^\\n]*',
  CPP_COMMENT: '//[^\\n]*',
  C_COMMENT: '/\\*(?:[^*]|\\*+[^*/])*\\*+/',
  SQL_COMMENT: '--[^\\n]*',
};
