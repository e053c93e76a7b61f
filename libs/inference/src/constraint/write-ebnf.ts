import { characterSet, intersection, type CharacterSet } from './character-set.js';
import type { Grammar, GrammarNode } from './grammar.js';
import { halves, symbolsOfText, wideSequences, type ByteRange } from './symbols.js';

/** Repetitions up to this many are left to XGrammar, which unrolls them. */
const unrolled = 32;

const ascii = characterSet([0, 0x7f]);

/** The grammar in XGrammar's EBNF, over the symbols that stand for the bytes of the text. */
export function writeEbnf(grammar: Grammar): string {
  return new EbnfWriter(grammar).write();
}

class EbnfWriter {
  private readonly lines: string[] = [];
  private extraRules = 0;
  /** Rules of characters beyond ASCII, by what they are. */
  private readonly wideRules = new Map<string, string>();

  constructor(private readonly grammar: Grammar) {}

  write(): string {
    this.define('root', this.grammar.root);
    for (const [name, node] of this.grammar.rules) this.define(`r_${name}`, node);
    return this.lines.join('\n');
  }

  private define(name: string, node: GrammarNode): void {
    this.lines.push(`${name} ::= ${this.expression(node)}`);
  }

  private expression(node: GrammarNode): string {
    switch (node.kind) {
      case 'text':
        return writeText(symbolsOfText(node.text));
      case 'characters':
        return this.characters(node.set);
      case 'sequence':
        return node.parts.length === 0
          ? '""'
          : `(${node.parts.map((part) => this.expression(part)).join(' ')})`;
      case 'choice':
        return `(${node.options.map((option) => this.expression(option)).join(' | ')})`;
      case 'repeat':
        return this.repetition(node.item, node.min, node.max);
      default:
        return `r_${node.name}`;
    }
  }

  private characters(set: CharacterSet): string {
    const narrow = intersection(set, ascii);
    const wide = wideSequences(set);
    if (wide.length === 0) return writeClass(narrow);
    const written = wide.map((ranges) => ranges.map(writeByte).join(' ')).join(' | ');
    const name = this.wideRules.get(written) ?? this.extraRule(written);
    this.wideRules.set(written, name);
    return narrow.length === 0 ? name : `(${writeClass(narrow)} | ${name})`;
  }

  private repetition(item: GrammarNode, min: number, max: number): string {
    if (max === 0) return '""';
    // XGrammar reads one sign behind an element.
    const written = item.kind === 'repeat' ? `(${this.expression(item)})` : this.expression(item);
    if (max === Number.POSITIVE_INFINITY) {
      return min <= 1 ? `${written}${min === 0 ? '*' : '+'}` : `(${this.exactly(written, min)} ${written}*)`;
    }
    if (min === 0 && max === 1) return `${written}?`;
    if (max <= unrolled) return `${written}{${min},${max}}`;
    const required = this.exactly(written, min);
    return `(${required} ${this.upTo(written, max - min)})`;
  }

  /** `count` repetitions, in blocks, so that the grammar grows with the root of the number. */
  private exactly(written: string, count: number): string {
    if (count <= unrolled) return count === 0 ? '""' : `${written}{${count}}`;
    const size = Math.ceil(Math.sqrt(count));
    const block = this.extraRule(`${written}{${size}}`);
    const rest = count % size;
    return `(${block}{${Math.floor(count / size)}}${rest > 0 ? ` ${written}{${rest}}` : ''})`;
  }

  /** 0 to `most` repetitions: some whole blocks and less than one more, so that there is one way only to count. */
  private upTo(written: string, most: number): string {
    if (most <= unrolled) return most === 0 ? '""' : `${written}{0,${most}}`;
    const size = Math.ceil(Math.sqrt(most + 1));
    const block = this.extraRule(`${written}{${size}}`);
    const blocks = Math.floor((most + 1) / size);
    const rest = (most + 1) % size;
    const part = this.extraRule(`${written}{0,${size - 1}}`);
    const fewer = `${block}{0,${blocks - 1}} ${part}`;
    return rest === 0 ? `(${fewer})` : `(${fewer} | ${block}{${blocks}} ${written}{0,${rest - 1}})`;
  }

  private extraRule(expression: string): string {
    const name = `x_${this.extraRules++}`;
    this.lines.push(`${name} ::= ${expression}`);
    return name;
  }
}

function writeText(symbols: string): string {
  return `"${Array.from(symbols, (symbol) => escapeCode(symbol.codePointAt(0)!)).join('')}"`;
}

function writeClass(ranges: readonly ByteRange[]): string {
  const written = ranges.map(([first, last]) =>
    first === last ? escapeCode(first) : `${escapeCode(first)}-${escapeCode(last)}`,
  );
  return `[${written.join('')}]`;
}

function writeByte(range: ByteRange): string {
  const options = halves(range).map(({ upper, lower }) => `${writeClass([upper])} ${writeClass([lower])}`);
  return options.length === 1 ? options[0]! : `(${options.join(' | ')})`;
}

function escapeCode(code: number): string {
  const isPlain =
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return isPlain ? String.fromCodePoint(code) : `\\u${code.toString(16).padStart(4, '0')}`;
}
