import type { ParsedDocument } from '../parsed-document.js';
import { parseFields } from '../sheets/csv-fields.js';
import { indentOf, linesOf, MarkupBlocks } from './markup-blocks.js';
import {
  admonitions,
  bodyOf,
  codeDirectives,
  field,
  included,
  optionsOf,
  paragraphsOf,
  silent,
  titleAt,
  versions,
  type DirectiveBody,
} from './rst-directives.js';
import { gridRule, gridTable, listTable, simpleRule, simpleTable } from './rst-tables.js';
import { rstName, rstText } from './rst-text.js';

const directive = /^\.\.\s+(?:\|([^|]+)\|\s+)?([\w+:.-]+?)::(?:\s+(.*))?$/;
const note = /^\.\.\s+\[([^\]]+)\](?:\s+(.*))?$/;
const target = /^(?:\.\.\s+_((?:`[^`]*`|\\:|[^:`])+|):|__)\s*(.*)$/;
const item = /^\s*(?:[*+•-]|\(?(?:\d{1,3}|[a-zA-Z#]|[ivxlc]{2,6})[.)])\s+(\S.*)$/;
const option =
  /^(?:-\w|--[\w-]+|\/\w)(?:[ =][<\w>-]+)?(?:, (?:-\w|--[\w-]+)(?:[ =][<\w>-]+)?)*(?:\s{2,}(\S.*))?$/;

const maxDepth = 50;
/** Reads reStructuredText: sections, lists, tables of all kinds, code, notes, fields and directives. */
export function readRst(source: string): ParsedDocument {
  return new RstReader().read(linesOf(source));
}

class RstReader {
  readonly #substitutions = new Map<string, string>();
  readonly #targets = new Map<string, string>();
  readonly #out = new MarkupBlocks((markup) =>
    rstText(markup, { substitutions: this.#substitutions, targets: this.#targets }),
  );
  /** Marks of headings in the order in which they appear, which is the order of their levels. */
  readonly #marks: string[] = [];
  /** Whether the open block is a field: another one may follow on the next line. */
  #isField = false;

  read(lines: readonly string[]): ParsedDocument {
    this.#collectNames(lines);
    this.#read(lines, 0);
    return this.#out.document();
  }

  /** Names may be used before they are given. */
  #collectNames(lines: readonly string[]): void {
    lines.forEach((line, at) => {
      const [, name, kind, value = ''] = directive.exec(line.trim()) ?? [];
      if (name !== undefined && kind === 'replace') {
        const further = bodyOf(lines, at + 1, indentOf(line)).lines.join(' ');
        this.#substitutions.set(rstName(name), `${value} ${further}`.trim());
      }
      const [, own, address = ''] = target.exec(line.trim()) ?? [];
      if (own !== undefined && address !== '') this.#targets.set(rstName(own), address.trim());
    });
  }

  #read(lines: readonly string[], depth: number): void {
    if (depth > maxDepth) throw new RangeError('too deep');
    let at = 0;
    while (at < lines.length) at = this.#step(lines, at, depth);
    this.#out.end();
  }

  /** Reads from a line on, and returns the place after what was read. */
  #step(lines: readonly string[], at: number, depth: number): number {
    const line = lines[at]!;
    const out = this.#out;
    if (line.trim() === '') {
      out.end();
      return at + 1;
    }
    const title = this.#title(lines, at);
    if (title !== undefined) return title;
    if (gridRule.test(line) || simpleRule.test(line)) return this.#table(lines, at);
    if (line.trimStart().startsWith('..') && /^\s*\.\.(?:\s|$)/.test(line))
      return this.#explicit(lines, at, depth);
    if (/^\s*__\s/.test(line)) return at + 1;
    if (/^\s*>>> /.test(line)) return this.#code(lines, at, (own) => own.trim() !== '');
    if (/^\s*\|(?:\s|$)/.test(line)) {
      out.line('paragraph', line.replace(/^\s*\|/, ''));
      return at + 1;
    }
    if (!out.isOpen || item.test(line) || (this.#isField && field.test(line))) {
      const next = this.#begin(lines, at, depth);
      if (next !== undefined) return next;
    }
    return this.#text(lines, at);
  }

  #title(lines: readonly string[], at: number): number | undefined {
    const { text = '', mark, next } = titleAt(lines, at, this.#out.isOpen) ?? {};
    return mark === undefined || next === undefined ? next : this.#heading(text, mark, next);
  }

  #heading(text: string, mark: string, next: number): number {
    if (!this.#marks.includes(mark)) this.#marks.push(mark);
    const level = this.#marks.indexOf(mark) + 1;
    this.#out.heading(level, text);
    if (level === 1) this.#out.facts.title ??= this.#out.textOf(text);
    return next;
  }

  #table(lines: readonly string[], at: number): number {
    let end = at + 1;
    if (gridRule.test(lines[at]!)) {
      while (/^\s*[+|]/.test(lines[end] ?? '')) end += 1;
      this.#out.table(gridTable(lines.slice(at, end)));
      return end;
    }
    // A simple table may have empty lines; it ends with a rule before an empty line.
    const isEnd = (own: number) => simpleRule.test(lines[own]!) && (lines[own + 1] ?? '').trim() === '';
    while (end < lines.length && !isEnd(end)) end += 1;
    this.#out.table(simpleTable(lines.slice(at, end + 1)));
    return end + 1;
  }

  #code(lines: readonly string[], at: number, belongs: (line: string) => boolean): number {
    let end = at;
    while (end < lines.length && belongs(lines[end]!)) end += 1;
    this.#out.code(lines.slice(at, end));
    return end;
  }

  /** Begins an item, a field, an option or a term. Undefined for other lines. */
  #begin(lines: readonly string[], at: number, depth: number): number | undefined {
    const line = lines[at]!;
    const out = this.#out;
    this.#isField = false;
    const [, itemText] = item.exec(line) ?? [];
    if (itemText !== undefined) {
      out.begin('list-item', itemText);
      return at + 1;
    }
    const [, name, value = ''] = field.exec(line) ?? [];
    if (name !== undefined && !/^\s*:[\w:+-]+:`/.test(line)) {
      if (/^date$/i.test(name)) out.facts.date = value.slice(0, 40);
      out.begin('paragraph', `${name}: ${value}`);
      this.#isField = true;
      return at + 1;
    }
    if (option.test(line)) {
      out.begin('list-item', line);
      return at + 1;
    }
    const next = lines[at + 1] ?? '';
    if (next.trim() === '' || indentOf(next) <= indentOf(line)) return undefined;
    const { lines: body, end } = bodyOf(lines, at + 1, indentOf(line));
    const [first = [], ...others] = paragraphsOf(body);
    if (/^\s*(?:[*+-]|\d+\.|\.\.)\s/.test(first[0] ?? '') || line.trimEnd().endsWith('::')) return undefined;
    out.line('list-item', `${line.trim()}: ${first.join('\n')}`);
    this.#read(
      others.flatMap((lineGroup) => ['', ...lineGroup]),
      depth + 1,
    );
    return end;
  }

  #text(lines: readonly string[], at: number): number {
    const line = lines[at]!;
    const isLiteral = /(?:^|[^:])::\s*$/.test(line) && (lines[at + 1] ?? '').trim() === '';
    if (!isLiteral) {
      this.#out.add(line);
      return at + 1;
    }
    const text = line.trim() === '::' ? '' : line.replace(/::\s*$/, /\s::\s*$/.test(line) ? '' : ':');
    if (text !== '') this.#out.add(text);
    const { lines: body, end } = bodyOf(lines, at + 1, indentOf(line));
    this.#out.code(body);
    return Math.max(end, at + 1);
  }

  /** A directive, a note, a target, or a comment with its lines. */
  #explicit(lines: readonly string[], at: number, depth: number): number {
    const line = lines[at]!.trim();
    const { lines: body, end } = bodyOf(lines, at + 1, indentOf(lines[at]!));
    this.#out.end();
    const [, label, text = ''] = note.exec(line) ?? [];
    if (label !== undefined) {
      const name = /^[\d#*]/.test(label) ? '' : `[${label}] `;
      this.#out.line('note', `${name}${[text, ...body].join('\n')}`);
      return end;
    }
    const [, substitution, name, argument = ''] = directive.exec(line) ?? [];
    if (name !== undefined && substitution === undefined)
      this.#directive(name.toLowerCase(), argument, { ...optionsOf(body), depth });
    return end;
  }

  #directive(
    name: string,
    argument: string,
    { options, body, depth }: DirectiveBody & { depth: number },
  ): void {
    const out = this.#out;
    if (silent.has(name)) return;
    if (included.has(name)) return out.include(argument);
    if (codeDirectives.has(name)) return out.code(name === 'math' ? [argument, ...body] : body);
    if (name === 'image' || name === 'figure') {
      const [, alternative = ''] = options.find(([key]) => key === 'alt') ?? [];
      if (alternative !== '') out.line('caption', alternative);
      const [caption, ...legend] = paragraphsOf(body);
      if (caption) out.line('caption', caption.join('\n'));
      return this.#read(
        legend.flatMap((lines) => ['', ...lines]),
        depth + 1,
      );
    }
    if (name === 'list-table' || name === 'csv-table' || name === 'table') {
      if (argument !== '') out.line('caption', argument);
      return this.#tableDirective(name, { options, body, depth });
    }
    const version = versions[name];
    if (version !== undefined)
      return this.#read(
        [`${version} ${argument}`.trimEnd().replace(/^((?:\S+ ){3}\S+) (?=\S)/, '$1: '), ...body],
        depth + 1,
      );
    if (admonitions.has(name))
      return this.#read([`${name[0]!.toUpperCase()}${name.slice(1)}: ${argument}`, ...body], depth + 1);
    if (argument !== '' && !/^(?:only|container|class|rst-class|tab-set)$/.test(name))
      out.line('paragraph', argument);
    return this.#read(body, depth + 1);
  }

  #tableDirective(name: string, { options, body, depth }: DirectiveBody & { depth: number }): void {
    const optionOf = (key: string) => options.find(([own]) => own === key)?.[1];
    const count = (key: string) => Number(optionOf(key) ?? 0) || 0;
    const file = optionOf('file') ?? optionOf('url');
    if (file !== undefined) this.#out.include(file);
    if (name === 'table') return this.#read(body, depth + 1);
    if (name === 'list-table')
      return this.#out.table(listTable(body, count('header-rows'), count('stub-columns')));
    const delimiter = { tab: '\t', space: ' ' }[optionOf('delim') ?? ''] ?? optionOf('delim') ?? ',';
    const header = optionOf('header');
    const rows = parseFields(
      [...(header === undefined ? [] : [header]), ...body].join('\n'),
      delimiter[0] ?? ',',
    ).filter(({ length }) => length > 0);
    const headerRows = header === undefined ? count('header-rows') : 1;
    if (rows.length > 0) this.#out.table({ rows, ...(headerRows > 0 && { headerRows }) });
  }
}
