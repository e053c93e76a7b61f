import type { PageWord } from './upright.js';

/** Words of about the same height, from left to right. */
export interface PageRow {
  words: PageWord[];
  y: number;
  size: number;
}

/** Words on one line differ in height by less than this share of their size. */
const sameLine = 0.35;
/** Up to this share of the size of its neighbor a word may be an index. */
const maxIndexSize = 0.9;

/** Groups words by their height, from the top to the bottom. Indices belong to the line of their neighbor. */
export function rowsOf(words: readonly PageWord[]): PageRow[] {
  const rows: PageRow[] = [];
  for (const word of words.toSorted((left, right) => right.y - left.y)) {
    const row = rows.at(-1);
    const isSame = row && Math.abs(row.y - word.y) < sameLine * Math.max(row.size, word.size);
    if (row && isSame && !word.table && !row.words[0]?.table) {
      // The row keeps the height of its largest word.
      if (word.size > row.size * 1.1) row.y = word.y;
      row.size = Math.max(row.size, word.size);
      row.words.push(word);
    } else rows.push({ words: [word], y: word.y, size: word.size });
  }
  const joined = joinIndices(rows);
  for (const row of joined) row.words.sort((left, right) => left.x - right.x);
  return joined;
}

function joinIndices(rows: readonly PageRow[]): PageRow[] {
  const kept: PageRow[] = [];
  rows.forEach((row, index) => {
    const below = rows[index + 1];
    const above = kept.at(-1);
    const parent = [above, below].find((other) => other && areIndicesOf(row, other));
    if (parent) parent.words.push(...row.words);
    else kept.push(row);
  });
  return kept;
}

function areIndicesOf(row: PageRow, other: PageRow): boolean {
  const rise = row.y - other.y;
  if (row.size > maxIndexSize * other.size || rise > 0.75 * other.size || rise < -0.4 * other.size)
    return false;
  return row.words.every(({ x, width, table }) =>
    other.words.some((word) => {
      const before = x - (word.x + word.width);
      const after = word.x - (x + width);
      const near = 0.7 * other.size;
      return !table && !word.table && (Math.abs(before) < near || Math.abs(after) < near);
    }),
  );
}
