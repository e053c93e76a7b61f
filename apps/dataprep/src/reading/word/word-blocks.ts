import {
  collapseWhitespace,
  type BlockKind,
  type DocumentBlock,
  type ReadingWarning,
} from '../parsed-document.js';
import type { TableCell } from '../tables/table-grid.js';
import { pictureBlock } from '../archives/figures.js';
import { tableBlocks } from '../tables/table-rows.js';
import type { Numbering } from './numbering.js';
import { ParagraphReader, type WordContext } from './paragraph-text.js';
import { listOf, outlineLevel } from './word-styles.js';
import {
  attributeOf,
  childOf,
  elementsOf,
  isOn,
  nameOf,
  valueOf,
  type XmlElement,
} from '../archives/xml-nodes.js';

/** What the blocks of a document share. */
export interface WordParts extends WordContext {
  numbering: Numbering;
  /** Notes by their kind and id. */
  notes: ReadonlyMap<string, XmlElement>;
}

/** Elements whose content is that of the body. */
const wrappers = new Set([
  'sdt',
  'sdtContent',
  'customXml',
  'smartTag',
  'ins',
  'moveTo',
  'body',
  'hdr',
  'ftr',
]);

/** Rows at the top of a table that may be headers by their style. */
const maxStyledRows = 5;

/** Reads paragraphs and tables as blocks. */
export class WordBlocks {
  #revised = 0;

  constructor(private readonly parts: WordParts) {}

  read(element: XmlElement | undefined): DocumentBlock[] {
    const blocks: DocumentBlock[] = [];
    this.#visit(element, blocks);
    return blocks;
  }

  warnings(): ReadingWarning[] {
    if (this.#revised === 0 || this.parts.keepsRevisions) return [];
    return [
      {
        code: 'hidden_part',
        message: `Struck-out, deleted or hidden text of ${this.#revised} paragraphs was left out.`,
      },
    ];
  }

  #visit(element: XmlElement | undefined, blocks: DocumentBlock[]): void {
    for (const child of elementsOf(element)) {
      const name = nameOf(child);
      if (name === 'p') this.#paragraph(child, blocks);
      else if (name === 'tbl') this.#table(child, blocks);
      else if (wrappers.has(name)) this.#visit(child, blocks);
      else if ((name === 'del' || name === 'moveFrom') && this.parts.keepsRevisions)
        this.#visit(child, blocks);
    }
  }

  #paragraph(element: XmlElement, blocks: DocumentBlock[]): void {
    const properties = childOf(element, 'pPr');
    const style = this.parts.styles.get(valueOf(properties, 'pStyle') ?? '') ?? {};
    const { text, notes, boxes, captions, pictures, isRevised } = new ParagraphReader(this.parts, style).read(
      element,
    );
    if (isRevised) this.#revised += 1;
    const shown = collapseWhitespace(text);
    if (shown !== '') {
      const level = outlineLevel(properties) ?? style.level;
      const mark = this.#mark(properties, style);
      const kind: BlockKind =
        level !== undefined ? 'heading' : mark === undefined ? 'paragraph' : 'list-item';
      const numbered = collapseWhitespace(`${mark ?? ''} ${shown}`);
      blocks.push({ kind, text: numbered, ...(level !== undefined && { level }) });
    }
    for (const note of notes) {
      const found = this.#textOf(this.parts.notes.get(note));
      if (found !== '') blocks.push({ kind: 'note', text: found });
    }
    for (const caption of captions) blocks.push({ kind: 'caption', text: caption });
    for (const picture of pictures) blocks.push(pictureBlock(picture));
    for (const box of boxes) this.#visit(box, blocks);
  }

  /** The number of a paragraph in its list; an empty text for a bullet. */
  #mark(
    properties: XmlElement | undefined,
    style: { list?: string; listLevel?: number },
  ): string | undefined {
    const [ownList, ownLevel] = listOf(properties);
    const list = ownList ?? style.list;
    if (list === undefined || list === '0') return undefined;
    return this.parts.numbering.next(list, ownLevel ?? style.listLevel ?? 0) ?? '';
  }

  #textOf(element: XmlElement | undefined): string {
    return collapseWhitespace(
      this.read(element)
        .map(({ text }) => text)
        .join(' '),
    );
  }

  #table(element: XmlElement, blocks: DocumentBlock[]): void {
    const rows = this.#rowsOf(element).filter(
      (row) => this.parts.keepsRevisions || !childOf(row, 'trPr', 'del'),
    );
    if (rows.some((row) => isLayout(row))) {
      for (const row of rows) for (const cell of cellsOf(row)) this.#visit(cell, blocks);
      return;
    }
    const headerRows = rows.findIndex((row) => isOn(childOf(row, 'trPr'), 'tblHeader') !== true);
    const figures: DocumentBlock[] = [];
    const table = {
      rows: this.#cells(rows, figures),
      headerRows: headerRows === -1 ? rows.length : headerRows,
    };
    for (const block of [...tableBlocks(table), ...figures]) blocks.push(block);
  }

  #rowsOf(element: XmlElement): XmlElement[] {
    return elementsOf(element).flatMap((child) =>
      nameOf(child) === 'tr' ? [child] : wrappers.has(nameOf(child)) ? this.#rowsOf(child) : [],
    );
  }

  /** The cells of rows. A cell that continues the one above it makes that one higher. Pictures become figures below the table. */
  #cells(rows: readonly XmlElement[], figures: DocumentBlock[]): TableCell[][] {
    const above = new Map<number, { rows: number }>();
    return rows.map((row, at) => {
      const cells: TableCell[] = [];
      let column = Number(valueOf(row, 'trPr', 'gridBefore') ?? 0);
      for (const element of cellsOf(row)) {
        const properties = childOf(element, 'tcPr');
        const columns = Math.min(1_000, Number(valueOf(properties, 'gridSpan') ?? 1) || 1);
        const merge = childOf(properties, 'vMerge');
        const open = merge && attributeOf(merge, 'val') !== 'restart' ? above.get(column) : undefined;
        if (open) open.rows += 1;
        else {
          const blocks = this.read(element);
          figures.push(...blocks.filter(({ picture }) => picture !== undefined));
          const texts = blocks.filter(({ picture }) => picture === undefined).map(({ text }) => text);
          const cell = {
            text: texts.join(' '),
            column,
            columns,
            rows: 1,
            isBold: at < maxStyledRows && this.#isBold(element),
          };
          cells.push(cell);
          above.set(column, cell);
        }
        column += columns;
      }
      return cells;
    });
  }

  /** Whether all text of a cell is bold. */
  #isBold(cell: XmlElement): boolean {
    const paragraphs = elementsOf(cell).filter((element) => nameOf(element) === 'p');
    const texts = paragraphs.map((element) => {
      const style = this.parts.styles.get(valueOf(childOf(element, 'pPr'), 'pStyle') ?? '') ?? {};
      return new ParagraphReader(this.parts, style).read(element);
    });
    const filled = texts.filter(({ text }) => text.trim() !== '');
    return filled.length > 0 && filled.every(({ isBold }) => isBold);
  }
}

function cellsOf(row: XmlElement): XmlElement[] {
  return elementsOf(row).flatMap((child) =>
    nameOf(child) === 'tc' ? [child] : wrappers.has(nameOf(child)) ? cellsOf(child) : [],
  );
}

/** Whether a cell of the row contains a table: then the table serves the layout. */
function isLayout(row: XmlElement): boolean {
  return cellsOf(row).some((cell) => elementsOf(cell).some((child) => nameOf(child) === 'tbl'));
}
