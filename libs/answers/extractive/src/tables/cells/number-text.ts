import type { Column, Table } from './table.js';

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** How several numbers become one. */
export const aggregates: Readonly<Record<'sum' | 'mean' | 'median', (numbers: readonly number[]) => number>> =
  {
    sum,
    mean: (numbers) => sum(numbers) / numbers.length,
    median: (numbers) => {
      const sorted = numbers.toSorted((left, right) => left - right);
      const middle = Math.floor(sorted.length / 2);
      return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
    },
  };

/** A number with the separators of its column. `isShort`: without zeros at the end. */
export function format(number: number, decimals: number, { decimal }: Column, isShort: boolean): string {
  const fixed = number.toFixed(decimals);
  const short = isShort ? fixed.replace(/\.?0+$/, '') : fixed;
  return decimal === ',' ? short.replace('.', ',') : short;
}

/** Adds the unit of the cells where these have it before or after their number. */
export function withUnit(text: string, table: Table, rows: readonly number[], { index }: Column): string {
  const cell = table.rows[rows[0]!]!.cells[index]!;
  const [, before = '', after = ''] =
    /^\s*[-+−]?([^\d\s+\-−]*\s*)[-+−]?[\d.,'’\s]*\d(\s*\D*)$/u.exec(cell) ?? [];
  return `${before}${text}${after}`.trim();
}
