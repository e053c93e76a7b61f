/** Code points from `first` to `last`, both included. */
export type CharacterRange = readonly [first: number, last: number];

/** Ascending ranges that neither touch nor overlap, without surrogates, because a text cannot contain a lone one. */
export type CharacterSet = readonly CharacterRange[];

const lastCodePoint = 0x10ffff;
const surrogates: CharacterRange = [0xd800, 0xdfff];

/** Sorts and joins ranges, and removes surrogates. */
export function characterSet(...ranges: CharacterRange[]): CharacterSet {
  return subtract(merge(ranges), [surrogates]);
}

export const anyCharacter: CharacterSet = characterSet([0, lastCodePoint]);

/** Returns the characters of a text. */
export function charactersOf(text: string): CharacterSet {
  return characterSet(
    ...Array.from(text, (letter): CharacterRange => [letter.codePointAt(0)!, letter.codePointAt(0)!]),
  );
}

export function union(...sets: CharacterSet[]): CharacterSet {
  return merge(sets.flat());
}

export function complement(set: CharacterSet): CharacterSet {
  return subtract(anyCharacter, set);
}

export function intersection(first: CharacterSet, second: CharacterSet): CharacterSet {
  return subtract(first, complement(second));
}

export function subtract(from: CharacterSet, removed: CharacterSet): CharacterSet {
  const left: CharacterRange[] = [];
  for (const [first, last] of from) {
    let start = first;
    for (const [low, high] of removed) {
      if (high < start || low > last) continue;
      if (low > start) left.push([start, low - 1]);
      start = high + 1;
    }
    if (start <= last) left.push([start, last]);
  }
  return left;
}

/** Maximum number of characters that {@link bothCases} examines. */
const maxCases = 20_000;

/** Adds the upper and lower case of each character; undefined if there are too many characters. */
export function bothCases(set: CharacterSet): CharacterSet | undefined {
  const size = set.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  if (size > maxCases) return undefined;
  const letters = set.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_unused, index) => String.fromCodePoint(first + index)),
  );
  const others = letters.flatMap((letter) => [letter.toLowerCase(), letter.toUpperCase()]);
  // The upper case of some letters has two letters.
  return union(set, charactersOf(others.filter((other) => Array.from(other).length === 1).join('')));
}

function merge(ranges: readonly CharacterRange[]): CharacterRange[] {
  const merged: CharacterRange[] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const previous = merged.at(-1);
    if (previous && first <= previous[1] + 1) {
      merged[merged.length - 1] = [previous[0], Math.max(previous[1], last)];
    } else merged.push([first, last]);
  }
  return merged;
}

const matchingSets = new Map<string, CharacterSet>();

/** Returns the characters that match an expression such as `\p{Letter}`; computed once (some 10 ms). */
export function charactersMatching(expression: string): CharacterSet {
  const known = matchingSets.get(expression);
  if (known) return known;
  const ranges: CharacterRange[] = [];
  for (const [first, last] of anyCharacter) {
    // In a text of all characters in order, a run of matches is a range.
    for (const [run] of allCharacters(first, last).matchAll(new RegExp(`(?:${expression})+`, 'gu'))) {
      ranges.push([run.codePointAt(0)!, Array.from(run.slice(-2)).at(-1)!.codePointAt(0)!]);
    }
  }
  const set = characterSet(...ranges);
  matchingSets.set(expression, set);
  return set;
}

function allCharacters(first: number, last: number): string {
  const parts: string[] = [];
  for (let code = first; code <= last; code++) parts.push(String.fromCodePoint(code));
  return parts.join('');
}

const utf8 = new TextEncoder();

/** Bytes from `first` to `last`, both included. */
export type ByteRange = readonly [first: number, last: number];

const lengthBorders: readonly CharacterRange[] = [
  [0x80, 0x7ff],
  [0x800, 0xffff],
  [0x10000, 0x10ffff],
];

/** Returns the UTF-8 of the characters beyond ASCII, as sequences of byte ranges; every combination is valid. */
export function wideSequences(set: CharacterSet): ByteRange[][] {
  return set.flatMap(([first, last]) =>
    lengthBorders.flatMap(([low, high]) => {
      const [from, to] = [Math.max(first, low), Math.min(last, high)];
      return from <= to ? sequencesOf(from, to) : [];
    }),
  );
}

/** Splits a range whose code points have the same number of bytes. */
function sequencesOf(first: number, last: number): ByteRange[][] {
  for (let bits = 6; bits <= 18; bits += 6) {
    const mask = 2 ** bits - 1;
    if (Math.floor(first / 2 ** bits) === Math.floor(last / 2 ** bits)) break;
    // A continuation byte may take all values only if the bytes before it are fixed or full ranges.
    if ((first & mask) !== 0)
      return [...sequencesOf(first, first | mask), ...sequencesOf((first | mask) + 1, last)];
    if ((last & mask) !== mask) {
      const border = last - (last & mask);
      return [...sequencesOf(first, border - 1), ...sequencesOf(border, last)];
    }
  }
  const from = utf8.encode(String.fromCodePoint(first));
  const to = utf8.encode(String.fromCodePoint(last));
  return [Array.from(from, (byte, index): ByteRange => [byte, to[index]!])];
}
