import type { ParsedDocument, ReadingOptions } from '../parsed-document.js';
import { revisedText } from '../revisions.js';
import { indentOf, linesOf, MarkupBlocks } from './markup-blocks.js';

const heading = /^(\*+)[ \t]+(.*?)(?:[ \t]+(:[\p{L}\p{N}_@#%:]+:))?[ \t]*$/u;
const keyword = /^[ \t]*#\+([A-Za-z_]+)(?:\[[^\]]*\])?:[ \t]*(.*)$/;
const blockBegin = /^[ \t]*#\+begin_(\w+)/i;
const comment = /^[ \t]*#(?:[ \t]|$)/;
const drawer = /^[ \t]*:([\w-]+):[ \t]*$/;
const property = /^[ \t]*:([\w+-]+):[ \t]+(.*)$/;
const planning = /\b(SCHEDULED|DEADLINE|CLOSED):[ \t]*[<[]([^>\]]*)[>\]]/g;
const item = /^[ \t]*(?:[-+]|\d{1,4}[.)]|[ \t]\*)[ \t]+(?:\[@\d+\][ \t]*)?(.*)$/;
const footnote = /^\[fn:([^\]:\s]+)\][ \t]*(.*)$/;
const tableRule = /^[ \t]*\|[-+|]*-[-+|]*$/;
/** Properties for programs. */
const technical = /^(?:id|custom_id|visibility|created|.*_all|columns|header-args.*)$/i;

/** Reads Org: outlines, lists, tables, blocks of code, notes, properties and times. Commented parts are left out. */
export function readOrg(source: string, { keepRevisions = false }: ReadingOptions = {}): ParsedDocument {
  return new OrgReader(linesOf(source), keepRevisions).read();
}

class OrgReader {
  readonly #out: MarkupBlocks;
  #at = 0;

  constructor(
    private readonly lines: readonly string[],
    keepsRevisions: boolean,
  ) {
    this.#out = new MarkupBlocks((markup) => inlineText(markup, keepsRevisions));
  }

  read(): ParsedDocument {
    while (this.#at < this.lines.length) {
      const line = this.lines[this.#at]!;
      this.#at += 1;
      this.#line(line);
    }
    return this.#out.document();
  }

  #line(line: string): void {
    const out = this.#out;
    const [, stars, text = '', tags] = heading.exec(line) ?? [];
    if (stars !== undefined) this.#heading(stars.length, text, tags);
    else if (line.trim() === '' || comment.test(line)) out.end();
    else if (blockBegin.test(line)) this.#block(blockBegin.exec(line)![1]!.toLowerCase());
    else if (keyword.test(line)) this.#keyword(line);
    else if (drawer.test(line)) this.#drawer();
    else if (/^[ \t]*\|/.test(line)) this.#table(line);
    else if (/^[ \t]*:(?:[ \t]|$)/.test(line)) this.#fixedWidth();
    else if (/^[ \t]*-{5,}[ \t]*$/.test(line)) out.end();
    else if (footnote.test(line)) out.begin('note', footnote.exec(line)![2]!);
    else if (item.test(line))
      out.begin('list-item', item.exec(line)![1]!.replace(/[ \t]+::(?=[ \t]|$)/, ':'));
    else this.#text(line);
  }

  #heading(level: number, text: string, tags: string | undefined): void {
    if (/^COMMENT\b/.test(text)) return this.#skipBelow(level);
    this.#out.heading(level, text.replace(/^((?:[A-Z]{3,}\s+)?)\[#\w\]\s*/, '$1'));
    if (tags !== undefined)
      this.#out.line('paragraph', `Tags: ${tags.split(':').filter(Boolean).join(', ')}`);
  }

  /** Skips a commented part with all that is below its heading. */
  #skipBelow(level: number): void {
    const isEnd = (line: string) => (heading.exec(line)?.[1]?.length ?? Infinity) <= level;
    while (this.#at < this.lines.length && !isEnd(this.lines[this.#at]!)) this.#at += 1;
    this.#out.end();
  }

  #keyword(line: string): void {
    const [, name = '', value = ''] = keyword.exec(line) ?? [];
    const out = this.#out;
    switch (name.toLowerCase()) {
      case 'title':
        out.facts.title = [out.facts.title, out.textOf(value)].filter(Boolean).join(' ');
        return out.heading(1, value);
      case 'date':
        out.facts.date = out.textOf(value).slice(0, 40);
        return out.line('paragraph', `Date: ${value}`);
      case 'author':
      case 'description':
      case 'subtitle':
        return out.line('paragraph', value);
      case 'caption':
        return out.line('caption', value);
      case 'include':
        return out.include(/^"([^"]*)"|^\S+/.exec(value)?.[1] ?? value);
      default:
        return out.end();
    }
  }

  /** The lines up to the one that ends them, or to the end of the text if there is none. */
  #until(end: RegExp): string[] {
    const found = this.lines.findIndex((line, at) => at >= this.#at && end.test(line));
    const until = found === -1 ? this.lines.length : found;
    const lines = this.lines.slice(this.#at, until);
    this.#at = until + 1;
    return lines;
  }

  #block(name: string): void {
    if (name === 'comment') return void this.#until(/^[ \t]*#\+end_comment/i);
    if (name === 'src' || name === 'example' || name === 'export') {
      const lines = this.#until(new RegExp(`^[ \\t]*#\\+end_${name}`, 'i'));
      return this.#out.code(lines.map((line) => line.replace(/^([ \t]*),(?=\*|#\+)/, '$1')));
    }
    // The lines of quotes, verses and other parts are read like the others.
    return this.#out.end();
  }

  #drawer(): void {
    const facts = this.#until(/^[ \t]*:end:[ \t]*$/i).flatMap((line) => {
      const [, name = '', value = ''] = property.exec(line) ?? [];
      if (name === '') return [line.trim()];
      return technical.test(name) ? [] : [`${name.replace(/\+$/, '')}: ${value}`];
    });
    this.#out.end();
    if (facts.some(Boolean)) this.#out.line('paragraph', facts.filter(Boolean).join('; '));
  }

  #table(first: string): void {
    const lines = [first];
    while (/^[ \t]*\|/.test(this.lines[this.#at] ?? '')) lines.push(this.lines[this.#at++]!);
    const body = tableRule.test(lines[0]!) ? lines.slice(1) : lines;
    const rule = body.findIndex((line) => tableRule.test(line));
    const rows = body
      .filter((line) => !tableRule.test(line))
      .map((line) =>
        line
          .trim()
          .replace(/^\||\|$/g, '')
          .split('|'),
      )
      .filter((cells) => !cells.every((cell) => /^\s*(?:<[lcr]?\d*>)?\s*$/.test(cell)));
    this.#out.table({ rows, ...(rule > 0 && rule < rows.length && { headerRows: rule }) });
  }

  #fixedWidth(): void {
    this.#at -= 1;
    const lines: string[] = [];
    while (/^[ \t]*:(?:[ \t]|$)/.test(this.lines[this.#at] ?? '')) lines.push(this.lines[this.#at++]!);
    this.#out.code(lines.map((line) => line.replace(/^[ \t]*: ?/, '')));
  }

  #text(line: string): void {
    const plans = [...line.matchAll(planning)].map(
      ([, name = '', time = '']) => `${name[0]}${name.slice(1).toLowerCase()}: ${time}`,
    );
    if (plans.length > 0) return this.#out.line('paragraph', plans.join('; '));
    if (/^[ \t]*#\+end_\w+/i.test(line)) return this.#out.end();
    // A line without indentation ends a list.
    if (
      this.lines[this.#at - 2] !== undefined &&
      indentOf(line) === 0 &&
      item.test(this.lines[this.#at - 2]!)
    )
      this.#out.end();
    return this.#out.add(line);
  }
}

const link = /\[\[([^\][]{1,2000})\](?:\[([^\][]{0,400})\])?\]/g;
const emphasis = /(^|[\s\-('"{])([*/_=~+])(?=\S)([^\n]{0,400}?\S|\S)\2(?=$|[\s\-.,;:!?'")}[])/gm;

/** The text of a piece of Org. */
function inlineText(markup: string, keepsRevisions: boolean): string {
  const styled = (text: string): string =>
    text.replaceAll(emphasis, (_all, before: string, mark: string, inner: string) => {
      if (mark === '=' || mark === '~') return before + inner;
      const own = styled(inner);
      return before + (mark === '+' ? revisedText(own, 'struck', keepsRevisions) : own);
    });
  const text = markup
    .replaceAll(/\[fn:[^\]:\s]*:([^\][]{0,400})\]/g, ' ($1)')
    .replaceAll(/\[fn:[^\]:\s]+\]/g, '')
    .replaceAll(link, (_all, target: string, shown = '') => linkText(target, shown as string))
    .replaceAll(/[<[](\d{4}-\d\d-\d\d[^>\]\n]{0,40})[>\]]/g, '$1')
    .replaceAll(/\\\\[ \t]*$/gm, ' ');
  return styled(text);
}

/** The text of a link, with its address if it is one for people. */
function linkText(target: string, shown: string): string {
  const address = target.replace(/^mailto:/, '');
  const isAddress = /^https?:|^mailto:/.test(target);
  if (shown === '') return isAddress ? address : target.replace(/^(?:file|id):|^[*#]/, '');
  return isAddress && !shown.includes(address) ? `${shown} (${address})` : shown;
}
