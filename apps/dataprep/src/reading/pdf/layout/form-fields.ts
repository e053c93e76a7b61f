import type { PageNote } from '../content/page-notes.js';
import type { Ruling } from '../content/rulings.js';
import { turnBox, type PageWord, type TextLayer } from './upright.js';

/** Size of letters that a value has at most. */
const maxSize = 12;

/** The words of a layer with the values at the places of their fields: after their labels, where these are on the same line. */
export function withNotes({ words, rulings, angle }: TextLayer, notes: readonly PageNote[]): PageWord[] {
  const placed = [...words];
  for (const note of notes) {
    const box = turnBox(note.box, angle);
    if (note.kind === 'text') placed.push(...linesOfText(note.text, box));
    else placeValue(placed, words, rulings, { ...note, box });
  }
  return placed;
}

function linesOfText(text: string, { left, top, right }: Ruling): PageWord[] {
  const size = maxSize;
  return text.split(/[\r\n]+/).map((line, index): PageWord => ({
    ...wordOf(line, left, top - size * (1 + index * 1.2), size),
    width: right - left,
  }));
}

function wordOf(text: string, x: number, y: number, size: number): PageWord {
  const width = text.length * size * 0.5;
  return { text: text.replaceAll(/\s+/g, ' ').trim(), x, y, width, size, isBold: false, isSpaced: true };
}

function placeValue(
  placed: PageWord[],
  words: readonly PageWord[],
  rulings: readonly Ruling[],
  { text, kind, box }: PageNote,
): void {
  const height = box.top - box.bottom;
  const isTall = height > 3 * maxSize;
  const size = Math.min(maxSize, height);
  const y = isTall ? box.top - size : box.bottom + 0.25 * (height - size * 0.5);
  // A label is on the line of its field: its letters are at the height of the field.
  const onLine = words.filter(
    (word) =>
      word.y > box.bottom - 0.3 * word.size &&
      word.y + 0.5 * word.size < box.top + 0.3 * word.size &&
      !isTall,
  );
  const before = nearest(
    onLine.filter((word) => word.x < box.left && word.x + word.width < box.right),
    (word) => -word.x,
  );
  const after = nearest(
    onLine.filter((word) => word.x >= box.right - 2),
    (word) => word.x - box.right,
  );
  const isOpen = (from: number, to: number) => !hasBorder(rulings, from, to, (box.top + box.bottom) / 2);
  const gapAfter = after ? after.x - box.right : Infinity;
  if (kind === 'tick' && after && gapAfter < 1.5 * after.size && isOpen(box.left, after.x + 1)) {
    const label = lastOfLabel(onLine, after);
    placed.push(fieldAfter(label, text));
  } else if (before && isOpen(before.x + before.width - 1, box.left + 1)) {
    placed.push(fieldAfter(before, text));
  } else {
    const line = onLine[0] ?? { y, size };
    placed.push({ ...wordOf(text, box.left + 1, line.y, line.size), isField: true });
  }
}

/** A value after its label. */
function fieldAfter(label: PageWord, text: string): PageWord {
  const { x, width, y, size } = label;
  if (!/[:?.)=]$/.test(label.text)) label.text += ':';
  const value = wordOf(text, x + width + 0.3 * size, y, size);
  return { ...value, isField: true, width: Math.min(value.width, 0.1 * size) };
}

/** The last word of the label that begins with a word: the words after it without a wide gap. */
function lastOfLabel(words: readonly PageWord[], first: PageWord): PageWord {
  let last = first;
  for (const word of words.toSorted((one, other) => one.x - other.x)) {
    const gap = word.x - last.x - last.width;
    if (word.x > last.x && gap < 1.2 * last.size) last = word;
  }
  return last;
}

function nearest(words: readonly PageWord[], distance: (word: PageWord) => number): PageWord | undefined {
  return words.toSorted((one, other) => distance(one) - distance(other))[0];
}

/** Whether a vertical line separates two places at a height. */
function hasBorder(rulings: readonly Ruling[], left: number, right: number, y: number): boolean {
  return rulings.some(
    (line) =>
      line.top - line.bottom > line.right - line.left &&
      line.bottom < y &&
      line.top > y &&
      line.left > left &&
      line.right < right,
  );
}
