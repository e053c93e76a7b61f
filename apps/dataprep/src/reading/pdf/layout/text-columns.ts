import { rowsOf } from './page-rows.js';
import { inColumns, type Band } from './bands.js';
import { textOfLine } from './line-text.js';
import { cellChains, rowGroups } from './cell-chains.js';

/** Columns with fewer lines may be cells. */
const minLines = 3;
const minWordsOfLine = 2.5;
/** Share of the lines of a text that go on from the line above in the middle of a sentence. */
const minContinued = 0.4;
/** Share of the width of its column that a line of a text fills. */
const minFill = 0.72;
/** The same where lines go on from the line above: cells in lower case fill less. */
const minFillOfSentences = 0.5;

/** Whether the columns of a band are texts to be read one after the other, and not cells of a table. */
export function areColumnsOfText(band: Band): boolean {
  const columns = inColumns(
    band.rows.flatMap((row) => row.words),
    band.gutters,
  );
  const texts = columns.map((words) => {
    const rows = rowsOf(words.filter(({ table }) => !table));
    const width = Math.max(...words.map(({ x, width }) => x + width)) - Math.min(...words.map(({ x }) => x));
    return {
      lines: rows.map((row) => textOfLine(row.words, row)),
      fills: rows.map((row) => widthOf(row) / width),
    };
  });
  const written = texts.filter(({ lines, fills }) => isText(lines, fills));
  const letters = (list: typeof texts) => list.flatMap(({ lines }) => lines).join('').length;
  if (written.length < 2 || letters(written) < 0.7 * letters(texts)) return false;
  return !hasRowsOfCells(
    band,
    texts.map(({ lines }) => lines),
  );
}

function widthOf({ words }: { words: readonly { x: number; width: number }[] }): number {
  const last = words.at(-1);
  return last ? last.x + last.width - (words[0]?.x ?? 0) : 0;
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

function isText(lines: readonly string[], fills: readonly number[]): boolean {
  const words = lines.map((line) => line.split(' ').length);
  if (lines.length < minLines) return false;
  const continued = continuedLines(lines);
  const isUnspaced = lines.every((line) =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(line),
  );
  if (isUnspaced) return mean(fills) > 0.8 && mean(lines.map((line) => line.length)) > 6;
  if (mean(words) < minWordsOfLine) return false;
  const fill = mean(fills);
  if (continued / (lines.length - 1) >= minContinued && fill >= minFillOfSentences) return true;
  return mean(words) >= 5 && fill >= minFill;
}

/** The number of lines that go on from the line above in the middle of a sentence; 0 if only numbers begin them. */
function continuedLines(lines: readonly string[]): number {
  const open = lines.filter((_line, index) => index > 0 && !/[.!?]["'”’)]*$/.test(lines[index - 1]!));
  const inLetters = open.filter((line) => /^\p{Ll}/u.test(line)).length;
  return inLetters === 0 ? 0 : inLetters + open.filter((line) => /^[\d("]/.test(line)).length;
}

/** Limit for the words of a cell, on average, in a table whose columns are all long texts. */
const maxWordsOfCell = 30;

/** Whether lines of all columns begin together again and again, after a gap: they are cells with several lines. */
function hasRowsOfCells(band: Band, columns: readonly string[][]): boolean {
  const chains = cellChains(band);
  if (chains.every(({ words }) => rowsOf(words).length === 1)) return false;
  const groups = rowGroups(chains).filter((group) => new Set(group.map(({ column }) => column)).size > 1);
  if (groups.length < 3) return false;
  const starts = groups.filter((group) => {
    const tops = [...new Set(group.map(({ column }) => column))].map((column) =>
      Math.max(...group.filter((chain) => chain.column === column).map(({ top }) => top)),
    );
    return Math.max(...tops) - Math.min(...tops) < 1.2 * (band.rows[0]?.size ?? 1);
  });
  const words = columns.flat().join(' ').split(' ').length;
  return starts.length >= 0.8 * groups.length && words / (groups.length * columns.length) <= maxWordsOfCell;
}
