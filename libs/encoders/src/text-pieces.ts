/** A part of a text among those of others. */
export interface TextPiece {
  readonly text: string;
  /** Which of the texts it is of. */
  readonly of: number;
}

/**
 * Cuts texts into pieces of at most so many characters; neighbours share `overlap` of them, so that a phrase at a border
 * is whole in one. A text that is short enough is one piece, an empty one too.
 */
export function cutPieces(
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

/** A piece in two that share an eighth of it, two characters at least; none where it is too short for that. */
export function halves({ text, of }: TextPiece): TextPiece[] {
  const overlap = Math.max(2, Math.floor(text.length / 8));
  const size = Math.ceil((text.length + overlap) / 2);
  if (size >= text.length) return [];
  return [text.slice(0, size), text.slice(-size)].map((half) => ({ text: half, of }));
}

/** Where windows of a size begin that together cover `length`; the last one ends with it. */
export function windowStarts(length: number, size: number, overlap: number): number[] {
  const starts = [0];
  while (starts.at(-1)! + size < length)
    starts.push(Math.min(starts.at(-1)! + size - overlap, length - size));
  return starts;
}

/** The highest score of each label over the pieces of each text. */
export function highestScores(
  pieces: readonly TextPiece[],
  rows: readonly ArrayLike<number>[],
  texts: number,
): number[][] {
  const highest = Array.from({ length: texts }, (): number[] => []);
  pieces.forEach(({ of }, index) => raise(highest[of]!, rows[index]!));
  return highest;
}

/** Raises each number to that of the other list where it is higher. */
export function raise(target: { [index: number]: number }, values: ArrayLike<number>): void {
  for (let index = 0; index < values.length; index++)
    target[index] = Math.max(target[index] ?? 0, values[index]!);
}
