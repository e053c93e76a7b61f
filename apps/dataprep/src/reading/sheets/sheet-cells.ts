import type { TableCell } from '../tables/table-grid.js';
import { revisedText } from '../revisions.js';
import { plainNumber } from './number-format.js';
import { parseXml, RichText, type CellStyle } from './workbook-parts.js';

/** What the sheets of a workbook share. */
export interface WorkbookParts {
  texts: readonly string[];
  styles: readonly CellStyle[];
  keepsRevisions: boolean;
}

/** A cell with text. Its column counts all columns of the sheet at first, then those with text. */
interface PlacedCell extends TableCell {
  text: string;
  isBold: boolean;
  column: number;
  columns: number;
  rows: number;
}

/** The cells of a sheet, and what was left out. */
export interface SheetCells {
  /** Rows with text from top to bottom; an empty one stands for empty rows between them. */
  rows: TableCell[][];
  hiddenRows: number;
  hiddenColumns: number;
  /** Formulas without a stored value. */
  emptyFormulas: number;
}

interface Range {
  first: { row: number; column: number };
  last: { row: number; column: number };
}

/** Reads the cells with text of a sheet, however far apart they are. */
export function readSheet(xml: string, parts: WorkbookParts): SheetCells {
  const reader = new SheetReader(parts);
  parseXml(xml, reader);
  return reader.cells();
}

const dateOfIso = /^(\d{4}-\d\d-\d\d)T00:00:00(?:\.0+)?Z?$/;

class SheetReader {
  readonly #rows = new Map<number, PlacedCell[]>();
  readonly #merged: Range[] = [];
  readonly #hiddenColumns: [first: number, last: number][] = [];
  readonly #hiddenRows = new Set<number>();
  readonly #rich: RichText;
  #isFiltered = false;
  #emptyFormulas = 0;
  #row = -1;
  #column = -1;
  #cell: { type: string; style: number; value: string; formula: boolean } | undefined;
  #reads = '';

  constructor(private readonly parts: WorkbookParts) {
    this.#rich = new RichText(parts.keepsRevisions);
  }

  readonly open = (name: string, attributes: Record<string, string>): void => {
    if (name === 'row') this.#openRow(attributes);
    else if (name === 'c') this.#openCell(attributes);
    else if (name === 'v' || name === 'f') this.#openValue(name);
    else if (name === 'mergeCell') this.#merge(attributes['ref'] ?? '');
    else if (name === 'col' && isTrue(attributes['hidden']))
      this.#hiddenColumns.push([Number(attributes['min']) - 1, Number(attributes['max']) - 1]);
    else if (name === 'filterColumn') this.#isFiltered = true;
    else this.#rich.open(name, attributes);
  };

  readonly text = (text: string): void => {
    if (this.#reads === 'v' && this.#cell) this.#cell.value += text;
    else if (this.#cell) this.#rich.add(text);
  };

  readonly close = (name: string): void => {
    if (name === 'c') this.#closeCell();
    else if (name === this.#reads) this.#reads = '';
    else this.#rich.close(name);
  };

  #openRow(attributes: Record<string, string>): void {
    this.#row = attributes['r'] === undefined ? this.#row + 1 : Number(attributes['r']) - 1;
    this.#column = -1;
    if (isTrue(attributes['hidden'])) this.#hiddenRows.add(this.#row);
  }

  /** The place of a cell may be left out: then it follows the one before. */
  #openCell({ r, t = 'n', s = '0' }: Record<string, string>): void {
    const place = r === undefined ? undefined : placeOf(r);
    this.#column = place?.column ?? this.#column + 1;
    if (place) this.#row = place.row;
    this.#cell = { type: t, style: Number(s), value: '', formula: false };
  }

  #openValue(name: string): void {
    this.#reads = name;
    if (name === 'f' && this.#cell) this.#cell.formula = true;
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (!cell) return;
    const inline = this.#rich.take();
    const style = this.parts.styles[cell.style];
    const shown = cell.type === 'inlineStr' ? inline : this.#valueOf(cell, style);
    if (cell.formula && cell.value === '' && inline === '' && cell.type !== 'str') this.#emptyFormulas += 1;
    const text = style?.isStruck === true ? revisedText(shown, 'struck', this.parts.keepsRevisions) : shown;
    if (text.trim() === '') return;
    const row = this.#rows.get(this.#row) ?? [];
    if (row.length === 0) this.#rows.set(this.#row, row);
    row.push({ text, isBold: style?.isBold === true, column: this.#column, columns: 1, rows: 1 });
  }

  #valueOf({ type, value }: { type: string; value: string }, style: CellStyle | undefined): string {
    if (value === '') return '';
    if (type === 's') return this.parts.texts[Number(value)] ?? '';
    if (type === 'str') return value;
    if (type === 'b') return value === '1' ? 'true' : 'false';
    if (type === 'd') return dateOfIso.exec(value)?.[1] ?? value;
    if (type === 'e') return '';
    return style?.show?.(value) ?? plainNumber(value);
  }

  #merge(ref: string): void {
    const [first, last] = ref.split(':').map(placeOf);
    if (first && last) this.#merged.push({ first, last });
  }

  cells(): SheetCells {
    const { keepsRevisions } = this.parts;
    const hidden = { rows: 0, columns: new Set<number>() };
    const kept = new Map<number, PlacedCell[]>();
    for (const [row, cells] of [...this.#rows].sort(([one], [other]) => one - other)) {
      cells.sort((one, other) => one.column - other.column);
      const isHiddenRow = this.#hiddenRows.has(row) && !this.#isFiltered;
      if (isHiddenRow) hidden.rows += 1;
      const shown = cells.filter((cell) => {
        const isHidden = this.#isHiddenColumn(cell.column);
        if (isHidden) hidden.columns.add(cell.column);
        if (!isHidden && !isHiddenRow) return true;
        cell.text = revisedText(cell.text, 'hidden', keepsRevisions);
        return keepsRevisions;
      });
      if (shown.length > 0) kept.set(row, shown);
    }
    const rows = placeCells(kept, this.#merged);
    return {
      rows,
      hiddenRows: hidden.rows,
      hiddenColumns: hidden.columns.size,
      emptyFormulas: this.#emptyFormulas,
    };
  }

  #isHiddenColumn(column: number): boolean {
    return this.#hiddenColumns.some(([first, last]) => column >= first && column <= last);
  }
}

/** Rows and columns without text take no place; one empty row stays where some were. */
function placeCells(kept: ReadonlyMap<number, PlacedCell[]>, merged: readonly Range[]): TableCell[][] {
  const columns = new Set<number>();
  for (const cells of kept.values()) for (const { column } of cells) columns.add(column);
  const usedColumns = [...columns].sort((one, other) => one - other);
  const placeOfColumn = new Map(usedColumns.map((column, at) => [column, at]));
  const usedRows: number[] = [];
  const rows: TableCell[][] = [];
  const rangeAt = new Map(merged.map((range) => [`${range.first.row} ${range.first.column}`, range]));
  for (const [row, cells] of kept) {
    const before = usedRows.at(-1);
    if (before !== undefined && row > before + 1) {
      usedRows.push(row - 1);
      rows.push([]);
    }
    usedRows.push(row);
    rows.push(cells);
  }
  for (const [row, cells] of kept)
    for (const cell of cells) {
      const range = rangeAt.size > 0 ? rangeAt.get(`${row} ${cell.column}`) : undefined;
      if (range) {
        cell.columns = countWithin(usedColumns, range.first.column, range.last.column);
        cell.rows = countWithin(usedRows, range.first.row, range.last.row);
      }
      cell.column = placeOfColumn.get(cell.column)!;
    }
  return rows;
}

/** The number of sorted values from `first` to `last`. */
function countWithin(sorted: readonly number[], first: number, last: number): number {
  const before = (limit: number) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < limit) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return before(last + 1) - before(first);
}

/** The row and the column of `B12` from 0. */
function placeOf(reference: string): { row: number; column: number } | undefined {
  const [, letters, row] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/i.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return { row: Number(row) - 1, column: column - 1 };
}

const isTrue = (value: string | undefined) => value === '1' || value === 'true';
