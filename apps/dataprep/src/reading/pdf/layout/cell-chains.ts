import type { Band, Gutter } from './bands.js';
import type { PageWord } from './upright.js';

/** Lines below each other in one column: the lines of a cell. */
export interface CellChain {
  column: number;
  /** Number of further columns that it covers. */
  spans: number;
  words: PageWord[];
  top: number;
  bottom: number;
}

/** A line that is so much further from the line above than the nearest lines are begins another cell. */
const maxPitch = 1.25;
/** Distances that differ by less are one. */
const samePitch = 1.06;
/** Share of the cells of a first line that further lines of cells have at most, where the distances hardly differ. */
const maxFilled = 0.8;

/** The lines of each column, those of one cell together. */
export function cellChains(band: Band): CellChain[] {
  const lines = linesOf(band);
  const within = pitchWithinCells(lines);
  const chains: CellChain[] = [];
  for (const { pitch, row: _row, ...line } of lines) {
    const before = chains.findLast(({ column }) => column === line.column);
    if (before && pitch !== undefined && pitch <= within) {
      before.words.push(...line.words);
      before.bottom = line.bottom;
      before.spans = Math.max(before.spans, line.spans);
    } else chains.push(line);
  }
  return chains;
}

/**
 * The largest distance between two lines of one cell; 0 if each line is a cell of its own. Rows of a table with little
 * padding are hardly further apart than the lines of a cell: then the lines that begin rows have more cells.
 */
function pitchWithinCells(lines: readonly BandLine[]): number {
  const pitches = lines.flatMap(({ pitch }) => pitch ?? []).toSorted((one, other) => one - other);
  const next = pitches.findIndex((pitch, index) => index > 0 && pitch > samePitch * pitches[index - 1]!);
  if (next === -1) return 0;
  const within = pitches[next - 1]!;
  if (pitches[next]! > maxPitch * pitches[0]!) return within;
  const cells = new Map<number, { count: number; isRest: boolean }>();
  for (const { row, pitch } of lines) {
    const { count, isRest } = cells.get(row) ?? { count: 0, isRest: true };
    cells.set(row, { count: count + 1, isRest: isRest && pitch !== undefined && pitch <= within });
  }
  const countsOf = (rest: boolean) =>
    [...cells.values()].filter(({ isRest }) => isRest === rest).map(({ count }) => count);
  return mean(countsOf(true)) <= maxFilled * mean(countsOf(false)) ? within : 0;
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** A line of a column, with the index of its row and the distance to the line above. */
type BandLine = CellChain & { row: number; pitch?: number };

/** Lines by columns, from the top to the bottom, with the distance to the line above. */
function linesOf({ rows, gutters }: Band): BandLine[] {
  const last = new Map<number, number>();
  return rows.flatMap((row, index) =>
    segmentsOf(row.words, gutters).map(({ words, column, spans }) => {
      const y = Math.max(...words.map((word) => word.y));
      const size = Math.max(...words.map((word) => word.size));
      const above = last.get(column);
      for (let each = column; each <= column + spans; each += 1) last.set(each, y);
      return {
        row: index,
        column,
        spans,
        words,
        top: y + 0.75 * size,
        bottom: y - 0.2 * size,
        ...(above !== undefined && above - y > 0.5 * size && { pitch: above - y }),
      };
    }),
  );
}

/** Parts of a row by columns. A part without a gap at a gutter covers the columns on both sides. */
function segmentsOf(
  words: readonly PageWord[],
  gutters: readonly Gutter[],
): { words: PageWord[]; column: number; spans: number }[] {
  const segments: { words: PageWord[]; column: number; spans: number }[] = [];
  for (const word of words) {
    const first = gutters.filter(({ right }) => right <= word.x + 0.1).length;
    const last = gutters.filter(({ left }) => left < word.x + word.width - 0.1).length;
    const column = Math.min(first, last);
    const spans = Math.max(first, last) - column;
    const before = segments.at(-1);
    if (before && column <= before.column + before.spans) {
      before.words.push(word);
      before.spans = Math.max(before.spans, column + spans - before.column);
    } else segments.push({ words: [word], column, spans });
  }
  return segments;
}

/** Groups cells whose heights overlap: the rows of a table. */
export function rowGroups(chains: readonly CellChain[]): CellChain[][] {
  const groups: CellChain[][] = [];
  let bottom = Infinity;
  for (const chain of chains.toSorted((one, other) => other.top - one.top)) {
    const group = groups.at(-1);
    if (group && chain.top > bottom + 0.1) {
      group.push(chain);
      bottom = Math.min(bottom, chain.bottom);
    } else {
      groups.push([chain]);
      bottom = chain.bottom;
    }
  }
  return groups;
}
