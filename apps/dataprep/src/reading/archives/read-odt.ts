import {
  collapseWhitespace,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingLimits,
  type ReadingWarning,
  type SourceFile,
} from '../parsed-document.js';
import { revisedText } from '../revisions.js';
import type { TableCell } from '../tables/table-grid.js';
import { tableBlocks } from '../tables/table-rows.js';
import { isDescription, pictureBlock, withPictures } from './figures.js';
import { attributeOf, elementsOf, nameOf, textWithin, type XmlElement, type XmlNode } from './xml-nodes.js';
import { XmlArchive, type XmlDocument } from './archive.js';

/** Parts that are not text of the document: comments of reviewers, deleted changes, forms, the table of contents. */
const dropped = new Set([
  'annotation',
  'tracked-changes',
  'forms',
  'table-of-content',
  'note-citation',
  'bookmark',
]);
/** Marks that separate words. */
const blanks = new Set(['s', 'tab', 'line-break', 'soft-page-break']);
/** Limit for a cell that its file repeats. */
const maxRepeats = 100;

/**
 * Reads an OpenDocument text: headings with their levels, paragraphs, list items, tables by rows. Notes, text boxes and
 * the texts of pictures follow their paragraph.
 */
export async function readOdt(file: SourceFile, limits: ReadingLimits): Promise<ParsedDocument> {
  const archive = new XmlArchive(file, limits);
  const $ = archive.xml('content.xml');
  const parts = archive.has('styles.xml') ? [archive.xml('styles.xml'), $] : [$];
  const reader = new OdtReader(parts, file.keepRevisions ?? false);
  const blocks = reader.read($('office\\:text')[0] ?? $.root()[0]);
  const heading = blocks.find(({ level }) => level === 1)?.text;
  const warnings = reader.warnings();
  const read = { ...(heading && { title: heading }), blocks, ...(warnings.length > 0 && { warnings }) };
  return withPictures(file, read, limits);
}

class OdtReader {
  readonly #struck = new Set<string>();
  readonly #hidden = new Set<string>();
  #revised = 0;

  constructor(
    parts: readonly XmlDocument[],
    private readonly keepsRevisions: boolean,
  ) {
    for (const $ of parts)
      for (const style of $('style\\:style').toArray()) {
        const name = style.attribs['style:name'] ?? '';
        const text = $(style).children('style\\:text-properties');
        const line =
          text.attr('style:text-line-through-style') ?? text.attr('style:text-line-through-type') ?? 'none';
        if (line !== 'none') this.#struck.add(name);
        if (text.attr('text:display') === 'none') this.#hidden.add(name);
      }
  }

  read(node: XmlNode | undefined, kind: DocumentBlock['kind'] = 'paragraph'): DocumentBlock[] {
    const blocks: DocumentBlock[] = [];
    for (const element of elementsOf(node)) this.#visit(element, kind, blocks);
    return blocks;
  }

  warnings(): ReadingWarning[] {
    if (this.#revised === 0 || this.keepsRevisions) return [];
    return [{ code: 'hidden_part', message: `${this.#revised} struck-out or hidden parts were left out.` }];
  }

  #visit(element: XmlElement, kind: DocumentBlock['kind'], blocks: DocumentBlock[]): void {
    const name = nameOf(element);
    if (dropped.has(name)) return;
    if (name === 'p' || name === 'h') this.#paragraph(element, kind, blocks);
    else if (name === 'table') this.#table(element, blocks);
    else if (name === 'image') this.#picture(element, blocks);
    else if (name === 'desc') {
      const text = collapseWhitespace(textWithin(element));
      if (isDescription(text)) blocks.push({ kind: 'caption', text });
    } else
      for (const block of this.read(element, name === 'list-item' ? 'list-item' : kind)) blocks.push(block);
  }

  /** A picture that is a file of the archive. */
  #picture(element: XmlElement, blocks: DocumentBlock[]): void {
    const path = (attributeOf(element, 'href') ?? '').replace(/^\.\//, '');
    if (path.startsWith('Pictures/')) blocks.push(pictureBlock(path));
  }

  #paragraph(element: XmlElement, kind: DocumentBlock['kind'], blocks: DocumentBlock[]): void {
    const after: DocumentBlock[] = [];
    const text = collapseWhitespace(this.#text(element, after));
    const level = Number(attributeOf(element, 'outline-level') ?? 1) || 1;
    if (text !== '') blocks.push(nameOf(element) === 'h' ? { kind: 'heading', level, text } : { kind, text });
    for (const block of after) blocks.push(block);
  }

  /** The text of a paragraph. Notes and boxes within it are added to `after`. */
  #text(element: XmlElement, after: DocumentBlock[]): string {
    const inner = element.children.map((child) => this.#inline(child, after)).join('');
    const style = attributeOf(element, 'style-name') ?? '';
    const isHidden =
      this.#hidden.has(style) || nameOf(element) === 'hidden-text' || nameOf(element) === 'hidden-paragraph';
    if (!isHidden && !this.#struck.has(style)) return inner;
    this.#revised += 1;
    return revisedText(inner, isHidden ? 'hidden' : 'struck', this.keepsRevisions);
  }

  #inline(node: XmlNode, after: DocumentBlock[]): string {
    if (!('attribs' in node)) return 'data' in node && node.nodeType === 3 ? node.data : '';
    const name = nameOf(node);
    if (dropped.has(name)) return '';
    if (blanks.has(name)) return ' ';
    if (name === 'note') {
      const text = this.read(node)
        .map((block) => block.text)
        .join(' ');
      if (text !== '') after.push({ kind: 'note', text });
      return '';
    }
    if (name === 'frame' || name === 'custom-shape' || name === 'text-box') {
      for (const block of this.read(node)) after.push(block);
      return ' ';
    }
    return this.#text(node, after);
  }

  #table(element: XmlElement, blocks: DocumentBlock[]): void {
    const rows = rowsOf(element);
    if (
      rows.some((row) =>
        elementsOf(row).some((cell) => elementsOf(cell).some((child) => nameOf(child) === 'table')),
      )
    ) {
      for (const row of rows)
        for (const cell of elementsOf(row)) for (const block of this.read(cell)) blocks.push(block);
      return;
    }
    const headers = elementsOf(element).filter((child) => nameOf(child) === 'table-header-rows');
    const headerRows = headers.reduce((sum, part) => sum + rowsOf(part).length, 0);
    const figures: DocumentBlock[] = [];
    const cells = rows.map((row) => elementsOf(row).flatMap((cell) => this.#cells(cell, figures)));
    const table = tableBlocks({ rows: cells, headerRows, startsWithHeaders: true });
    for (const block of [...table, ...figures]) blocks.push(block);
  }

  /** Pictures become figures below the table. */
  #cells(cell: XmlElement, figures: DocumentBlock[]): TableCell[] {
    if (nameOf(cell) !== 'table-cell') return [];
    const blocks = this.read(cell);
    figures.push(...blocks.filter(({ picture }) => picture !== undefined));
    const one: TableCell = {
      text: blocks
        .filter(({ picture }) => picture === undefined)
        .map(({ text }) => text)
        .join(' '),
      columns: Number(attributeOf(cell, 'number-columns-spanned') ?? 1),
      rows: Number(attributeOf(cell, 'number-rows-spanned') ?? 1),
    };
    const repeats = Math.min(maxRepeats, Number(attributeOf(cell, 'number-columns-repeated') ?? 1) || 1);
    return Array.from({ length: repeats }, () => one);
  }
}

function rowsOf(element: XmlElement): XmlElement[] {
  return elementsOf(element).flatMap((child) =>
    nameOf(child) === 'table-row'
      ? [child]
      : /^table-(?:header-rows|rows|row-group)$/.test(nameOf(child))
        ? rowsOf(child)
        : [],
  );
}
