import type { LocatedTable, SizedBlock } from './page-parts.js';

type Part = SizedBlock | LocatedTable;

const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹';
/** The mark at the beginning of a footnote. */
const noteMark = /^([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|\d{1,3}|[*†‡§])\s*(?=\S)/;
/** Footnotes have smaller letters than the text. */
const maxNoteSize = 0.93;

/** Puts each footnote after the block that refers to it, as a note. */
export function placeNotes(parts: readonly Part[], bodySize: number): Part[] {
  const placed: Part[] = [];
  for (const part of parts) {
    const mark = 'table' in part ? undefined : markOf(part, bodySize);
    if (mark === undefined || 'table' in part) {
      placed.push(part);
      continue;
    }
    const note: SizedBlock = { ...part, kind: 'note' };
    const at = placed.findLastIndex(
      (each) => !('table' in each) && each.page === part.page && refersTo(each, mark),
    );
    if (at === -1) placed.push(part);
    else placed.splice(afterNotes(placed, at), 0, note);
  }
  return placed;
}

function markOf({ kind, text, size }: SizedBlock, bodySize: number): string | undefined {
  if (kind !== 'paragraph' || size > maxNoteSize * bodySize) return undefined;
  const [, mark] = noteMark.exec(text) ?? [];
  return mark?.replaceAll(/\d/g, (digit) => digits[Number(digit)]!);
}

function refersTo({ kind, text }: SizedBlock, mark: string): boolean {
  if (kind === 'note') return false;
  const at = text.indexOf(mark, 1);
  return at > 0 && /[^\s⁰¹²³⁴⁵⁶⁷⁸⁹]/.test(text[at - 1]!) && !digits.includes(text[at + mark.length] ?? ' ');
}

/** The place after a block and the notes that follow it. */
function afterNotes(parts: readonly Part[], at: number): number {
  let end = at + 1;
  for (let next = parts[end]; next && !('table' in next) && next.kind === 'note'; next = parts[end]) end += 1;
  return end;
}
