import type { ParsedDocument, ReadingOptions } from '../parsed-document.js';
import { revisedText } from '../revisions.js';
import type { TableCell } from '../tables/table-grid.js';
import { MarkupBlocks } from './markup-blocks.js';
import { leading, sections, silent } from './tex-commands.js';
import { TexCursor } from './tex-cursor.js';
import { TexMacros } from './tex-macros.js';
import { groupsOf, splitRows } from './tex-tables.js';
import { accented, isAccent, texSymbol, texTypography } from './tex-symbols.js';
import { sourceOf, texTokens, type TexToken } from './tex-tokens.js';

const tabular = /^(?:tabular[*xy]?|tabulary|longtable|supertabular|xltabular|tblr|longtblr|array)$/;
const formulas = /^(?:equation|align|alignat|gather|multline|eqnarray|displaymath|math|flalign)\*?$/;
const maxDepth = 200;
/** Reads LaTeX: sections, lists, tables, code, captions, notes, formulas as they are written, and simple own commands. */
export function readTex(source: string, { keepRevisions = false }: ReadingOptions = {}): ParsedDocument {
  const text = source
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/\\iffalse\b[^]*?\\fi\b/g, '');
  const begin = text.indexOf('\\begin{document}');
  const reader = new TexReader(keepRevisions);
  if (begin !== -1) reader.preamble(texTokens(text.slice(0, begin)));
  const end = text.lastIndexOf('\\end{document}');
  reader.run(
    texTokens(
      text.slice(begin === -1 ? 0 : begin + '\\begin{document}'.length, end > begin ? end : undefined),
    ),
  );
  return reader.document();
}

class TexReader {
  /** The text is plain when it comes to a block. */
  readonly #out = new MarkupBlocks((text) => text);
  readonly #macros = new TexMacros();
  readonly #notes: string[] = [];
  #cursor = new TexCursor([]);
  #text = '';
  #isItem = false;
  #depth = 0;
  #meta: Record<string, string> = {};

  constructor(private readonly keepsRevisions: boolean) {}

  /** Reads the definitions and the facts ahead of the text. */
  preamble(tokens: TexToken[]): void {
    this.run(tokens);
    this.#text = '';
  }

  run(tokens: TexToken[]): void {
    this.#cursor = new TexCursor(tokens);
    for (let token = this.#cursor.next(); token; token = this.#cursor.next()) this.#step(token);
    this.#flush();
  }

  document(): ParsedDocument {
    if (this.#meta.title !== undefined) this.#out.facts.title = this.#meta.title;
    return this.#out.document();
  }

  #flush(): void {
    if (this.#text.trim() !== '') this.#out.begin(this.#isItem ? 'list-item' : 'paragraph', this.#text);
    this.#out.end();
    this.#text = '';
    this.#isItem = false;
    for (const note of this.#notes.splice(0)) this.#out.line('note', note);
  }

  #step(token: TexToken): void {
    if (token.kind === 'command') this.#command(token.text);
    else if (token.kind === 'paragraph') this.#flush();
    else if (token.kind === 'math') this.#text += this.#math(token.text);
    else if (token.kind === 'text') this.#text += texTypography(token.text);
    else if (token.kind === 'cell') this.#text += ' ';
  }

  /** The text of tokens that stand alone, like an argument. */
  #textOf(tokens: TexToken[]): string {
    if ((this.#depth += 1) > maxDepth) throw new RangeError('too deep');
    const outer = { cursor: this.#cursor, text: this.#text };
    this.#cursor = new TexCursor(tokens);
    this.#text = '';
    for (let token = this.#cursor.next(); token; token = this.#cursor.next())
      if (token.kind === 'paragraph') this.#text += ' ';
      else this.#step(token);
    const text = this.#text;
    this.#cursor = outer.cursor;
    this.#text = outer.text;
    this.#depth -= 1;
    return text.replaceAll(/\s+/g, ' ').trim();
  }

  #math(mark: string): string {
    const source = sourceOf(this.#cursor.until(({ kind, text }) => kind === 'math' && text === mark));
    return mark === '$$' ? ` ${source} ` : source;
  }

  #command(name: string): void {
    const plain = name.replace(/\*$/, '');
    if (this.#macros.call(plain, this.#cursor)) return undefined;
    if (isAccent(name)) {
      this.#text += accented(name, this.#textOf(this.#cursor.argument()));
      return;
    }
    const symbol = texSymbol(name);
    if (name === '\\') this.#cursor.optional();
    if (symbol === '\n\n') return this.#flush();
    if (symbol !== undefined) {
      this.#text += symbol;
      return;
    }
    if (name === '(' || name === '[') {
      const end = name === '(' ? ')' : ']';
      this.#text += sourceOf(this.#cursor.until(({ kind, text }) => kind === 'command' && text === end));
      return;
    }
    const level = sections[plain];
    if (level !== undefined) return this.#section(level);
    const count = silent[plain];
    if (count !== undefined) return this.#skip(count);
    return this.#named(plain);
  }

  #section(level: number): void {
    this.#cursor.optional();
    const title = this.#textOf(this.#cursor.argument());
    this.#flush();
    this.#out.heading(level, title);
  }

  #skip(count: number): void {
    this.#cursor.optional();
    for (let at = 0; at < count; at += 1) {
      if (this.#cursor.peek()?.kind !== 'open' && at > 0) break;
      this.#cursor.argument();
      this.#cursor.optional();
    }
  }

  #named(name: string): void {
    switch (name) {
      case 'begin':
        return this.#begin(this.#textOf(this.#cursor.argument()));
      case 'end':
        this.#cursor.argument();
        return this.#flush();
      case 'newcommand':
      case 'renewcommand':
      case 'providecommand':
      case 'DeclareRobustCommand':
        return this.#macros.define(this.#cursor);
      case 'def':
        return this.#macros.defineBare(this.#cursor);
      case 'title':
      case 'author':
      case 'date':
        this.#cursor.optional();
        this.#meta[name] = this.#textOf(this.#cursor.argument());
        if (name === 'date' && this.#meta.date) this.#out.facts.date = this.#meta.date.slice(0, 40);
        return undefined;
      case 'maketitle':
        return this.#titles();
      case 'verbatim-block':
        this.#flush();
        return this.#out.code(sourceOf(this.#cursor.argument()).split('\n'));
      case 'item':
        return this.#item();
      case 'caption':
        return this.#caption();
      case 'footnote':
      case 'thanks':
      case 'footnotetext':
      case 'marginpar':
        this.#cursor.optional();
        this.#notes.push(this.#textOf(this.#cursor.argument()));
        return undefined;
      case 'input':
      case 'include':
      case 'subfile':
      case 'lstinputlisting':
        this.#flush();
        return this.#out.include(this.#textOf(this.#cursor.argument()));
      default:
        this.#text += this.#inline(name);
    }
  }

  #inline(name: string): string {
    if (name === 'href') {
      const address = sourceOf(this.#cursor.argument());
      const shown = this.#textOf(this.#cursor.argument());
      return shown.includes(address) ? shown : `${shown} (${address.replace(/^mailto:/, '')})`;
    }
    if (name === 'url' || name === 'nolinkurl') return sourceOf(this.#cursor.argument());
    if (/^(?:sout|st|xout)$/.test(name))
      return revisedText(this.#textOf(this.#cursor.argument()), 'struck', this.keepsRevisions);
    if (/^(?:auto|page|[cC]|name|eq)?ref$|cite/.test(name)) {
      const remark = this.#cursor.optional();
      const key = sourceOf(this.#cursor.argument());
      return name.includes('cite')
        ? `[${[key, remark && sourceOf(remark)].filter(Boolean).join(', ')}]`
        : key;
    }
    if (name === 'bibitem') {
      this.#flush();
      this.#isItem = true;
      this.#cursor.optional();
      return `[${sourceOf(this.#cursor.argument())}] `;
    }
    const count = leading[name];
    if (count !== undefined) {
      this.#cursor.optional();
      for (let at = 0; at < count; at += 1) this.#cursor.argument();
      return this.#textOf(this.#cursor.argument());
    }
    if (/^(?:SI|qty)$/.test(name))
      return `${this.#textOf(this.#cursor.argument())} ${sourceOf(this.#cursor.argument()).replaceAll('\\', '')}`;
    if (name === 'footnotemark') this.#cursor.optional();
    // Of other commands the groups after them are text. A command ends at a space.
    if (this.#cursor.peek()?.kind === 'text') this.#cursor.optional();
    return '';
  }

  #titles(): void {
    this.#flush();
    const { title, author, date } = this.#meta;
    if (title !== undefined) this.#out.heading(1, title);
    for (const text of [author?.replaceAll(' ,', ','), date]) if (text) this.#out.line('paragraph', text);
  }

  #item(): void {
    this.#flush();
    const label = this.#cursor.optional();
    this.#isItem = true;
    if (label) this.#text = `${this.#textOf(label).replace(/:$/, '')}: `;
  }

  #caption(): void {
    this.#cursor.optional();
    const text = this.#textOf(this.#cursor.argument());
    this.#flush();
    this.#out.line('caption', text);
  }

  #begin(environment: string): void {
    this.#flush();
    if (tabular.test(environment)) return this.#table(environment);
    if (formulas.test(environment))
      return this.#out.line(
        'paragraph',
        sourceOf(this.#cursor.environment(environment)).replaceAll(/\\label\{[^}]*\}|&/g, ''),
      );
    if (environment === 'tikzpicture' || environment === 'pgfpicture')
      return void this.#cursor.environment(environment);
    this.#cursor.optional();
    if (/^(?:minipage|thebibliography|multicols|adjustbox|wrapfigure|column)$/.test(environment))
      this.#skip(environment === 'wrapfigure' ? 2 : 1);
    if (environment === 'frame' && this.#cursor.peek()?.kind === 'open') this.#section(2);
    if (environment === 'abstract') this.#out.heading(2, 'Abstract');
    return undefined;
  }

  #table(environment: string): void {
    this.#cursor.optional();
    if (/[*xy]$|tabulary/.test(environment)) this.#cursor.argument();
    this.#cursor.argument();
    const { rows, headerRows, captions } = splitRows(this.#cursor.environment(environment));
    for (const caption of captions) this.#out.line('caption', this.#textOf(caption));
    const cells = rows.map((row) => {
      let column = 0;
      return row
        .map((tokens): TableCell => {
          const cell = { ...this.#cell(tokens), column };
          column += cell.columns ?? 1;
          return cell;
        })
        .filter(({ text }) => text !== '');
    });
    this.#out.table({ rows: cells, ...(headerRows > 0 && { headerRows }) });
  }

  #cell(tokens: TexToken[]): TableCell {
    const at = tokens.findIndex(({ kind, text }) => kind === 'command' && /^multi(?:column|row)$/.test(text));
    if (at === -1) return { text: this.#textOf(tokens) };
    const [count = [], width = [], content = []] = groupsOf(tokens, at + 1);
    const number = Math.abs(Number(sourceOf(count))) || 1;
    const inner = content.length > 0 ? this.#cell(content) : { text: this.#textOf(width) };
    return { ...inner, ...(tokens[at]!.text === 'multicolumn' ? { columns: number } : { rows: number }) };
  }
}
