import { characterSet, complement, type CharacterRange, type CharacterSet } from '../regex/character-set.js';
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

const maxRepetitions = 20_000;
const maxNesting = 50;

/**
 * Parses a grammar in GBNF, an EBNF: `rule ::= "text" | [a-z]+ ("x" rule){1,3}`, comments after `#`, and a rule `root`.
 * Throws ConstraintError that names line and column.
 */
export function parseEbnf(source: string): Grammar {
  assertReadable(source);
  return new EbnfParser(source).parse();
}

class EbnfParser {
  private at = 0;
  private depth = 0;
  private readonly rules = new Map<string, GrammarNode>();
  private readonly used = new Map<string, number>();

  constructor(private readonly source: string) {}

  parse(): Grammar {
    for (this.skip(); this.at < this.source.length; this.skip()) this.parseRule();
    if (!this.rules.has('root')) throw new ConstraintError('There is no rule "root".');
    for (const [name, place] of this.used) {
      if (!this.rules.has(name)) throw this.error('This rule is not defined', place);
    }
    return { root: rule('root'), rules: this.rules };
  }

  private parseRule(): void {
    const start = this.at;
    const name = this.match(/[A-Za-z_][\w-]*/y);
    this.skip();
    if (!name || !this.match(/::=/y)) throw this.error('A rule such as name ::= … is expected', start);
    if (this.rules.has(toRuleName(name))) throw this.error(`Rule "${name}" is defined twice`, start);
    this.rules.set(toRuleName(name), this.parseChoice());
    if (this.at < this.source.length && !this.startsRule()) throw this.error('This is not understood');
  }

  private parseChoice(): GrammarNode {
    if (++this.depth > maxNesting) throw this.error('Groups are nested too deep');
    const options = [this.parseSequence()];
    while (this.match(/\|/y)) options.push(this.parseSequence());
    this.depth--;
    return choice(...options);
  }

  private parseSequence(): GrammarNode {
    const parts: GrammarNode[] = [];
    for (this.skip(); this.at < this.source.length && !this.startsRule(); this.skip()) {
      const item = this.parseItem();
      if (!item) break;
      parts.push(this.parseRepetition(item));
    }
    return sequence(...parts);
  }

  /** Returns undefined at the end of the sequence. */
  private parseItem(): GrammarNode | undefined {
    const start = this.at;
    if (this.match(/"/y)) return text(this.parseText(start));
    if (this.match(/\[/y)) return characters(this.parseClass(start));
    if (this.match(/\.(?!\.)/y)) return characters(complement([]));
    if (this.match(/\(/y)) {
      if (this.match(/=/y)) throw this.error('Lookahead is not supported', start);
      const inner = this.parseChoice();
      if (!this.match(/\)/y)) throw this.error('A group is not closed', start);
      return inner;
    }
    const name = this.match(/[A-Za-z_][\w-]*/y);
    if (!name) return undefined;
    if (this.match(/\(/y)) throw this.error(`${name}(…) is not supported`, start);
    if (!this.used.has(toRuleName(name))) this.used.set(toRuleName(name), start);
    return rule(toRuleName(name));
  }

  private parseRepetition(item: GrammarNode): GrammarNode {
    const start = this.at;
    const sign = this.match(/[*+?]/y);
    if (sign) {
      const repeated = repeat(item, sign === '+' ? 1 : 0, sign === '?' ? 1 : Number.POSITIVE_INFINITY);
      return this.parseRepetition(repeated);
    }
    const braces = this.match(/\{\s*\d*\s*(?:,\s*\d*\s*)?\}/y);
    if (!braces) return item;
    const [low, high] = braces
      .slice(1, -1)
      .split(',', 2)
      .map((part) => part.trim());
    const min = Number(low);
    const max = high === undefined ? min : high === '' ? Number.POSITIVE_INFINITY : Number(high);
    const largest = Number.isFinite(max) ? max : min;
    if (max < min || largest > maxRepetitions || (low === '' && !high)) {
      throw this.error(`The bounds of a repetition ascend, up to ${maxRepetitions}`, start);
    }
    return repeat(item, min, max);
  }

  private parseText(start: number): string {
    let value = '';
    while (!this.match(/"/y)) value += String.fromCodePoint(this.parseCharacter(start));
    return value;
  }

  private parseClass(start: number): CharacterSet {
    const negated = this.match(/\^/y) !== undefined;
    const ranges: CharacterRange[] = [];
    while (!this.match(/\]/y)) {
      const first = this.parseCharacter(start);
      const isRange = this.match(/-(?!\])/y) !== undefined;
      const last = isRange ? this.parseCharacter(start) : first;
      if (last < first) throw this.error('The end of a range is before its start', start);
      ranges.push([first, last]);
    }
    const set = characterSet(...ranges);
    return negated ? complement(set) : set;
  }

  /** Parses a character, written as itself or escaped; returns its code point. */
  private parseCharacter(start: number): number {
    const escape = this.match(
      /\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}|[^xuU])/y,
    );
    if (escape) return checkScalar(escapedCode(escape), () => this.error('This is not a character', start));
    const code = this.source.codePointAt(this.at);
    if (code === undefined || code === 0x0a || code === 0x5c) throw this.error('This does not end', start);
    this.at += code > 0xffff ? 2 : 1;
    return checkScalar(code, () => this.error('This is not a character', start));
  }

  private startsRule(): boolean {
    const start = this.at;
    const starts = this.match(/[A-Za-z_][\w-]*\s*::=/y) !== undefined;
    this.at = start;
    return starts;
  }

  /** Skips white space, line ends and comments. */
  private skip(): void {
    this.match(/(?:\s|#[^\n]*)*/y);
  }

  private match(expression: RegExp): string | undefined {
    expression.lastIndex = this.at;
    const found = expression.exec(this.source)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  private error(reason: string, place = this.at): ConstraintError {
    const before = this.source.slice(0, place).split('\n');
    return new ConstraintError(`${reason}, in line ${before.length}, column ${before.at(-1)!.length + 1}.`);
  }
}

/** Replaces hyphens, which rule names cannot contain. Doubling underscores keeps the names distinct. */
function toRuleName(name: string): string {
  return name.replaceAll('_', '__').replaceAll('-', '_h');
}

const namedEscapes: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09 };

function escapedCode(escape: string): number {
  const digits = /^\\[xuU]\{?([0-9A-Fa-f]+)/.exec(escape)?.[1];
  if (digits) return Number.parseInt(digits, 16);
  const letter = escape.slice(1);
  return namedEscapes[letter] ?? letter.codePointAt(0)!;
}

function checkScalar(code: number, error: () => ConstraintError): number {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw error();
  return code;
}
