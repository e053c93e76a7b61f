import type { DocumentBlock } from '../../apps/dataprep/src/reading/parsed-document.js';
import type { GeneratedPage } from './generate.js';

/** What a reader found of a page. */
export interface Judgement {
  /** Edits to the right text, and its length. */
  edits: number;
  letters: number;
  /** Cells that are right, that were found, and that there are. */
  right: number;
  found: number;
  cells: number;
}

/** Compares the blocks of a page with what is on it. */
export function judge(page: GeneratedPage, blocks: readonly DocumentBlock[]): Judgement {
  const isRow = ({ kind }: DocumentBlock) => kind === 'table-row';
  const text = plain(
    blocks
      .filter((block) => !isRow(block))
      .map((block) => block.text)
      .join(' '),
  );
  const wanted = plain(page.text);
  const found = blocks.filter(isRow).flatMap((block) => block.text.split('; '));
  const left = [...page.cells];
  const right = found.filter((cell) => {
    const at = left.indexOf(cell);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  }).length;
  return {
    edits: distance(wanted, text),
    letters: wanted.length,
    right,
    found: found.length,
    cells: page.cells.length,
  };
}

const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Levenshtein's distance. */
export function distance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_value, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const change = one[row - 1] === other[column - 1] ? 0 : 1;
      line.push(Math.min(above[column]! + 1, line[column - 1]! + 1, above[column - 1]! + change));
    }
    above = line;
  }
  return above[other.length]!;
}
