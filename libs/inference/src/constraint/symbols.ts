import { characterSet, subtract, type CharacterRange, type CharacterSet } from './character-set.js';

/**
 * XGrammar 0.1.27 compiles ranges of characters beyond ASCII to something else than it was told. It is therefore given
 * ASCII only: a byte from 0x80 on becomes two symbols, its upper and its lower half, taken from control characters that
 * stand for nothing else. Those control characters themselves cannot be written by a constrained answer.
 */
const upperHalf = 0x01;
const lowerHalf = 0x0e;

/** Control characters but tab and the ends of lines. */
const controls = characterSet([0, 8], [0x0b, 0x0c], [0x0e, 0x1f]);

/** The characters that a constrained answer can write. */
export function writable(set: CharacterSet): CharacterSet {
  return subtract(set, controls);
}

/** Whether a constrained answer can write all of a text. */
export function isWritable(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text);
}

/** Bytes as symbols; empty where one of them has none. */
export function symbolsOf(bytes: Uint8Array): string {
  const symbols: string[] = [];
  for (const byte of bytes) {
    if (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13) return '';
    symbols.push(
      byte < 0x80
        ? String.fromCodePoint(byte)
        : String.fromCodePoint(upperHalf + ((byte >> 4) & 7), lowerHalf + (byte & 15)),
    );
  }
  return symbols.join('');
}

const encoder = new TextEncoder();

export function symbolsOfText(text: string): string {
  return symbolsOf(encoder.encode(text));
}

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

/** A range of bytes from 0x80 on as alternatives of two symbol ranges each. */
export function halves([first, last]: ByteRange): { upper: ByteRange; lower: ByteRange }[] {
  const [firstUpper, lastUpper] = [(first >> 4) & 7, (last >> 4) & 7];
  const [firstLower, lastLower] = [first & 15, last & 15];
  const symbols = (upper: ByteRange, lower: ByteRange) => ({
    upper: [upperHalf + upper[0], upperHalf + upper[1]] as const,
    lower: [lowerHalf + lower[0], lowerHalf + lower[1]] as const,
  });
  if (firstUpper === lastUpper) return [symbols([firstUpper, firstUpper], [firstLower, lastLower])];
  const start = firstLower === 0 ? firstUpper : firstUpper + 1;
  const end = lastLower === 15 ? lastUpper : lastUpper - 1;
  return [
    ...(start > firstUpper ? [symbols([firstUpper, firstUpper], [firstLower, 15])] : []),
    ...(start <= end ? [symbols([start, end], [0, 15])] : []),
    ...(end < lastUpper ? [symbols([lastUpper, lastUpper], [0, lastLower])] : []),
  ];
}
