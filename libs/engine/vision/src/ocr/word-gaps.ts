import type { GrayPicture } from './gray-picture.js';

/** Width of the white between two words, and between two numbers, as a share of the height of the line. */
const [minGap, minGapOfNumbers] = [0.18, 0.23];
/** Share of the contrast from which a column of pixels has ink. */
const minInk = 0.4;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** A white gap in a line: its middle, from 0 to 1. */
interface WordGap {
  at: number;
  /** It is wide enough for the gap between two numbers: narrow digits leave white at their sides. */
  isWide: boolean;
}

/** The white gaps between words in a line. */
export function wordGaps({ width, height, pixels }: GrayPicture): WordGap[] {
  const darkest = new Uint8Array(width).fill(255);
  // The rows at the edges may have parts of other lines.
  for (let y = Math.floor(height * 0.15); y < height * 0.88; y += 1)
    for (let x = 0; x < width; x += 1) darkest[x] = Math.min(darkest[x]!, pixels[y * width + x]!);
  const sorted = Uint8Array.from(pixels).toSorted();
  const [ink, paper] = [sorted[Math.floor(sorted.length * 0.02)]!, sorted[Math.floor(sorted.length * 0.8)]!];
  const limit = paper - minInk * (paper - ink);
  const gaps: WordGap[] = [];
  let last = -1;
  for (let x = 0; x < width; x += 1) {
    if (darkest[x]! >= limit) continue;
    const gap = x - last - 1;
    if (last >= 0 && gap >= minGap * height)
      gaps.push({ at: (last + x + 1) / 2 / width, isWide: gap >= minGapOfNumbers * height });
    last = x;
  }
  return gaps;
}

/** The text with the spaces that the model left out: at gaps between letters that are not written without spaces. */
export function withSpaces(
  text: string,
  places: readonly number[],
  gaps: readonly WordGap[],
): { text: string; places: number[] } {
  let [spaced, next] = ['', 0];
  const at: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const [character, place] = [text[index]!, places[index]!];
    for (let gap = gaps[next]; gap && gap.at < place; gap = gaps[next]) {
      if (isGapOfWords(spaced.at(-1) ?? ' ', character, gap)) {
        spaced += ' ';
        at.push(gap.at);
      }
      next += 1;
    }
    spaced += character;
    at.push(place);
  }
  return { text: spaced, places: at };
}

function isGapOfWords(before: string, after: string, { isWide }: WordGap): boolean {
  if (before === ' ' || after === ' ' || unspaced.test(before) || unspaced.test(after)) return false;
  return isWide || !(/[\d.,]/.test(before) && /[\d.,]/.test(after));
}
