import { cellChains, rowGroups, type CellChain } from './cell-chains.js';
import type { Band } from './bands.js';
import { cellText } from './ruled-tables.js';
import type { PageTable, PlacedCell } from './upright.js';

/** The table that the rows of a band make; undefined if they are not one. */
export function tableOfBand(band: Band): PageTable | undefined {
  const groups = joinRests(rowGroups(cellChains(band)));
  const width = band.gutters.length + 1;
  const cells = groups.flatMap((group, row) => cellsOfRow(group, row, width));
  const filledRows = groups.filter((group) => new Set(group.map(({ column }) => column)).size > 1);
  if (filledRows.length < 2) return undefined;
  const words = band.rows.flatMap((row) => row.words);
  const columns = Array.from({ length: width }, (_column, index) =>
    Math.min(
      ...words.map(({ x }) => x).filter((x) => x >= (band.gutters[index - 1]?.right ?? -Infinity) - 0.1),
    ),
  );
  return { cells, columns };
}

function cellsOfRow(group: readonly CellChain[], row: number, width: number): PlacedCell[] {
  const cells: PlacedCell[] = [];
  for (let column = 0; column < width; column += 1) {
    const chains = group.filter((chain) => chain.column === column);
    const words = chains.flatMap((chain) => chain.words);
    const spans = Math.max(0, ...chains.map((chain) => chain.spans));
    cells.push({
      text: cellText(words),
      row,
      column,
      rows: 1,
      columns: spans + 1,
      isBold: words.length > 0 && words.every(({ isBold }) => isBold),
    });
    column += spans;
  }
  return cells;
}

/** A row without a first cell that goes on in lower case belongs to the row above. */
function joinRests(groups: readonly CellChain[][]): CellChain[][] {
  const joined: CellChain[][] = [];
  for (const group of groups) {
    const above = joined.at(-1);
    const isRest =
      above &&
      group.every(({ column }) => column > 0) &&
      group.every(
        ({ column, words }) =>
          above.some((chain) => chain.column === column) && /^\p{Ll}/u.test(words[0]?.text ?? ''),
      );
    if (isRest) above.push(...group);
    else joined.push([...group]);
  }
  return joined;
}
