import type { ParsedDocument, ReadingOptions } from '../parsed-document.js';
import { adocText } from './adoc-text.js';
import { adocTable, tableFence } from './adoc-tables.js';
import { linesOf, MarkupBlocks } from './markup-blocks.js';

const heading = /^(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*$/;
const attribute = /^:(!?[\w-]+!?):(?:[ \t]+(.*))?$/;
const blockAttributes = /^\[([^\]\n]*)\][ \t]*$/;
const blockTitle = /^\.([^\s.].*)$/;
const item =
  /^[ \t]*(?:\*{1,5}|-|\.{1,5}|\d{1,3}\.|[a-z]\.|<(?:\d{1,2}|\.)>)[ \t]+(?:\[[ xX*]\][ \t]+)?(\S.*)$/;
const term = /^[ \t]*(\S.*?)(?::{2,4}|;;)(?:[ \t]+(.*))?$/;
const admonition = /^(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(.*)$/;
const directive = /^(ifdef|ifndef|ifeval|endif)::([^[\s]*)\[(.*)\][ \t]*$/;
const macro = /^(image|video|audio|include|toc)::([^[\s]*)\[(.*)\][ \t]*$/;
const fence = /^(-{4,}|\.{4,}|\+{4,}|\/{4,}|={4,}|\*{4,}|_{4,}|--|```.*)[ \t]*$/;
const admonitionName = /^(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)$/;

/**
 * Reads AsciiDoc: sections, lists, tables, code, notes, captions and attributes. Conditions count by the attributes that
 * the text itself sets.
 */
export function readAdoc(source: string, { keepRevisions = false }: ReadingOptions = {}): ParsedDocument {
  return new AdocReader(linesOf(source), keepRevisions).read();
}

class AdocReader {
  readonly #out: MarkupBlocks;
  readonly #attributes = new Map<string, string>();
  readonly #notes: string[] = [];
  /** Whether the parts of the open conditions count. */
  readonly #conditions: boolean[] = [];
  /** Marks of the open parts. */
  readonly #fences: string[] = [];
  /** Attributes of the next block: `source,bash`. */
  #style = '';
  #at = 0;

  constructor(
    private readonly lines: readonly string[],
    keepsRevisions: boolean,
  ) {
    this.#out = new MarkupBlocks((markup) =>
      adocText(markup, { attributes: this.#attributes, notes: this.#notes, keepsRevisions }),
    );
  }

  read(): ParsedDocument {
    this.#header();
    while (this.#at < this.lines.length) {
      const line = this.lines[this.#at++]!;
      if (this.#condition(line) || this.#conditions.includes(false)) continue;
      this.#line(line);
      if (!this.#out.isOpen) this.#putNotes();
    }
    this.#out.end();
    this.#putNotes();
    return this.#out.document();
  }

  /** The title with the lines of the author and the revision below it. */
  #header(): void {
    while (/^(?:\s*|\/\/.*|:.*)$/.test(this.lines[this.#at] ?? 'x')) {
      const [, name, value] = attribute.exec(this.lines[this.#at]!) ?? [];
      if (name !== undefined) this.#set(name, value);
      this.#at += 1;
    }
    const title = /^=[ \t]+(\S.*)$/.exec(this.lines[this.#at] ?? '')?.[1];
    if (title === undefined) return;
    this.#out.facts.title = this.#out.textOf(title);
    this.#out.heading(1, title);
    this.#at += 1;
    for (
      let line = this.lines[this.#at];
      line !== undefined && line.trim() !== '';
      line = this.lines[this.#at]
    ) {
      if (heading.test(line)) break;
      this.#at += 1;
      const [, name, value] = attribute.exec(line) ?? [];
      if (name !== undefined) this.#set(name, value);
      else if (!line.startsWith('//')) {
        this.#out.line('paragraph', line);
        const day = /\b(?:\d{4}-\d\d-\d\d|\d{1,2} \p{L}+ \d{4}|\p{L}+ \d{1,2}, \d{4})\b/u.exec(line)?.[0];
        if (day !== undefined) this.#out.facts.date = day;
      }
    }
    const revised = this.#attributes.get('revdate') ?? this.#attributes.get('date');
    if (revised !== undefined) this.#out.facts.date = this.#out.textOf(revised).slice(0, 40);
  }

  #set(name: string, value = ''): void {
    const key = name.replaceAll('!', '').toLowerCase();
    if (name.includes('!')) this.#attributes.delete(key);
    else this.#attributes.set(key, value.replace(/[ \t]\\$/, ''));
  }

  /** Whether the line begins or ends a condition. */
  #condition(line: string): boolean {
    const [, kind, names = '', content = ''] = directive.exec(line) ?? [];
    if (kind === undefined) return false;
    if (kind === 'endif') this.#conditions.pop();
    else {
      const isSet = (name: string) => this.#attributes.has(name.toLowerCase());
      const set = names.includes('+') ? names.split('+').every(isSet) : names.split(',').some(isSet);
      const counts = kind === 'ifeval' || (kind === 'ifdef' ? set : !set);
      if (content === '' || kind === 'ifeval') this.#conditions.push(counts);
      else if (counts && !this.#conditions.includes(false)) this.#line(content);
    }
    return true;
  }

  #line(line: string): void {
    const out = this.#out;
    if (line.trim() === '' || line.trim() === '+') return this.#endBlock();
    if (line.startsWith('//') && !/^\/{4,}/.test(line)) return;
    const [, name, value] = attribute.exec(line) ?? [];
    if (name !== undefined && !out.isOpen) return this.#set(name, value);
    const [, kind, target = '', text = ''] = macro.exec(line) ?? [];
    if (kind !== undefined) return this.#macro(kind, target, text);
    if (tableFence.test(line)) return this.#table(line.trim());
    const isEnd = this.#fences.at(-1) === line.trim();
    if (isEnd || (fence.test(line) && !this.#isUnderline(line))) return this.#fenced(line.trim());
    const [, style] = blockAttributes.exec(line) ?? [];
    if (style !== undefined) {
      out.end();
      this.#style = style.startsWith('[') ? this.#style : style;
      return;
    }
    return this.#text(line);
  }

  #endBlock(): void {
    this.#out.end();
    this.#style = '';
  }

  /** A line of marks below a title of the same length is the old form of a heading. */
  #isUnderline(line: string): boolean {
    const title = this.lines[this.#at - 2]?.trimEnd() ?? '';
    return this.#out.isOpen && Math.abs(title.length - line.trimEnd().length) <= 1;
  }

  #text(line: string): void {
    const out = this.#out;
    const [, marks, title = ''] = heading.exec(line) ?? [];
    const level = '=-~^+'.indexOf(line[0]!) + 1;
    if (marks !== undefined) out.heading(marks.length, title);
    else if (level > 0 && /^(.)\1{3,}[ \t]*$/.test(line) && this.#isUnderline(line)) {
      const above = this.lines[this.#at - 2]!;
      out.takeBack();
      out.heading(level, above);
    } else if (/^'{3,}$|^<<<$/.test(line)) out.end();
    else if (blockTitle.test(line) && !out.isOpen) out.line('caption', blockTitle.exec(line)![1]!);
    else if (this.#style.startsWith('source') || this.#style === 'listing' || this.#style === 'literal')
      this.#indented();
    else if (item.test(line)) out.begin('list-item', item.exec(line)![1]!);
    else if (admonition.test(line)) out.begin('paragraph', line);
    else if (term.test(line) && !/\w+::\S/.test(line)) this.#term(line);
    else if (/^[ \t]/.test(line) && !out.isOpen) this.#indented();
    else out.add(admonitionName.test(this.#style) && !out.isOpen ? `${this.#style}: ${line}` : line);
  }

  #term(line: string): void {
    const [, name = '', text = ''] = term.exec(line) ?? [];
    this.#out.begin('list-item', `${name}: ${text}`);
    // The text of a term may follow after an empty line.
    if (text === '' && (this.lines[this.#at] ?? '').trim() === '') this.#at += 1;
  }

  /** Lines of code up to the next empty line. */
  #indented(): void {
    this.#at -= 1;
    const lines: string[] = [];
    while ((this.lines[this.#at] ?? '').trim() !== '') lines.push(this.lines[this.#at++]!);
    this.#out.code(lines);
    this.#style = '';
  }

  #macro(kind: string, target: string, text: string): void {
    if (kind === 'include') return this.#out.include(target);
    const [alternative = ''] = text.split(',');
    if (kind === 'image' && alternative.trim() !== '')
      this.#out.line('caption', alternative.replaceAll('"', ''));
    return this.#out.end();
  }

  #until(mark: string): string[] {
    const found = this.lines.indexOf(mark, this.#at);
    const until = found === -1 ? this.lines.length : found;
    const lines = this.lines.slice(this.#at, until);
    this.#at = until + 1;
    return lines;
  }

  #fenced(mark: string): void {
    this.#out.end();
    if (this.#fences.at(-1) === mark) return void this.#fences.pop();
    if (mark.startsWith('////')) return void this.#until(mark);
    if (/^[-.]{4}|^```/.test(mark)) this.#out.code(this.#until(mark.startsWith('`') ? '```' : mark));
    else if (mark.startsWith('++++')) this.#out.code(this.#until(mark));
    else {
      this.#fences.push(mark);
      if (admonitionName.test(this.#style)) this.#out.begin('paragraph', `${this.#style}:`);
    }
    // The lines of examples, sidebars and quotes are read like the others.
    this.#style = '';
  }

  #table(mark: string): void {
    const lines = this.#until(mark).filter((line) => !line.startsWith('//'));
    this.#out.table(adocTable(lines, { style: this.#style, mark }));
    this.#style = '';
  }

  #putNotes(): void {
    for (const note of this.#notes.splice(0)) this.#out.line('note', note);
  }
}
