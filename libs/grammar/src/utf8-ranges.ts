import type { CharacterRange, CharacterSet } from './regex/character-set.js';

const encoder = new TextEncoder();

/** A byte each: from the first to the second, both included. */
export type ByteRange = readonly [first: number, last: number];

const lengthBorders: readonly CharacterRange[] = [
  [0x80, 0x7ff],
  [0x800, 0xffff],
  [0x10000, 0x10ffff],
];

/** The UTF-8 of the characters beyond ASCII, as sequences of byte ranges of which every combination is meant. */
export function wideSequences(set: CharacterSet): ByteRange[][] {
  return set.flatMap(([first, last]) =>
    lengthBorders.flatMap(([low, high]) => {
      const [from, to] = [Math.max(first, low), Math.min(last, high)];
      return from <= to ? sequencesOf(from, to) : [];
    }),
  );
}

/** Both code points have the same number of bytes. */
function sequencesOf(first: number, last: number): ByteRange[][] {
  for (let bits = 6; bits <= 18; bits += 6) {
    const mask = 2 ** bits - 1;
    if (Math.floor(first / 2 ** bits) === Math.floor(last / 2 ** bits)) break;
    // A continuation byte may run freely only where the ones before it do not change.
    if ((first & mask) !== 0)
      return [...sequencesOf(first, first | mask), ...sequencesOf((first | mask) + 1, last)];
    if ((last & mask) !== mask) {
      const border = last - (last & mask);
      return [...sequencesOf(first, border - 1), ...sequencesOf(border, last)];
    }
  }
  const from = encoder.encode(String.fromCodePoint(first));
  const to = encoder.encode(String.fromCodePoint(last));
  return [Array.from(from, (byte, index): ByteRange => [byte, to[index]!])];
}
