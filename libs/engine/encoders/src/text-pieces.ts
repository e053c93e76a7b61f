/** A piece of one of several texts. */
export interface TextPiece {
  readonly text: string;
  /** Index of the text. */
  readonly of: number;
}

/**
 * Splits texts into pieces of at most `characters` characters. Neighbors overlap by `overlap` characters, so that a
 * phrase at a border is complete in one of them. A short or empty text is a single piece.
 */
export function splitTexts(
  texts: readonly string[],
  { characters, overlap }: { characters: number; overlap: number },
): TextPiece[] {
  return texts.flatMap((text, of) =>
    windowStarts(text.length, characters, overlap).map((start) => ({
      text: text.slice(start, start + characters),
      of,
    })),
  );
}

/**
 * Splits a piece into two that overlap by an eighth, at least two characters; an empty array if it is too short.
 */
export function splitInHalf({ text, of }: TextPiece): TextPiece[] {
  const overlap = Math.max(2, Math.floor(text.length / 8));
  const size = Math.ceil((text.length + overlap) / 2);
  if (size >= text.length) return [];
  return [text.slice(0, size), text.slice(-size)].map((half) => ({ text: half, of }));
}

/** Returns the start of each window of `size` that together cover `length`; the last window ends at `length`. */
export function windowStarts(length: number, size: number, overlap: number): number[] {
  const starts = [0];
  while (starts.at(-1)! + size < length)
    starts.push(Math.min(starts.at(-1)! + size - overlap, length - size));
  return starts;
}

/** Returns per text the maximum score of each label over its pieces. */
export function maxScores(
  pieces: readonly TextPiece[],
  rows: readonly ArrayLike<number>[],
  texts: number,
): number[][] {
  const highest = Array.from({ length: texts }, (): number[] => []);
  pieces.forEach(({ of }, index) => raiseToMax(highest[of]!, rows[index]!));
  return highest;
}

/** Raises each number of `target` to the corresponding number of `values` if that is higher. */
export function raiseToMax(target: { [index: number]: number }, values: ArrayLike<number>): void {
  for (let index = 0; index < values.length; index++)
    target[index] = Math.max(target[index] ?? 0, values[index]!);
}
