import type { PictureLine, PictureText } from '#engine/vision';
import type { PageContent } from '../pdf/content/page-content.js';
import type { PlacedWord } from '../pdf/content/word-writer.js';
import { linesOfPicture } from './picture-rulings.js';

/** Share of the height of the box of a line that its letters take as their size, and that is below their baseline. */
const [sizeShare, belowShare] = [0.72, 0.24];
/** Lines of nearly the same height have letters of the same size. */
const sameHeight = 1.3;

/** A picture of a page as the content of a page; `scale`: points of a pixel. Lines that are askew are turned. */
export function pageOfPicture({ lines, gray }: PictureText, scale: number): PageContent {
  const skew = skewOf(lines);
  const usual = median(lines.map(({ box }) => box.height)) ?? 1;
  const words = lines.flatMap((line) => wordsOf(line, skew, usual));
  const rulings = linesOfPicture(gray, skew, usual);
  const up = (y: number) => (gray.height - y) * scale;
  return {
    words: words.map((word) => ({
      ...word,
      x: word.x * scale,
      y: up(word.y),
      width: word.width * scale,
      size: word.size * scale,
    })),
    rulings: rulings.map(({ left, top, right, bottom }) => ({
      left: left * scale,
      right: right * scale,
      top: up(top),
      bottom: up(bottom),
    })),
    notes: [],
    unreadable: { glyphs: 0, fonts: new Set() },
    readable: lines.reduce((sum, { text }) => sum + text.length, 0),
    isPainted: true,
  };
}

/** The words of a line at their places in the picture without its skew; y grows downwards. */
function wordsOf({ text, places, box }: PictureLine, skew: number, usual: number): PlacedWord[] {
  const [x, y] = turn(box.x, box.y, -skew);
  const height = box.height < usual * sameHeight && box.height > usual / sameHeight ? usual : box.height;
  const left = x - box.width / 2;
  // The first and the last character are half a character away from the borders of the line.
  const margin = box.height * 0.3;
  const at = (index: number) => left + (places[index] ?? 1) * box.width;
  return [...text.matchAll(/\S+/g)].map((match): PlacedWord => {
    const last = match.index + match[0].length - 1;
    const start = Math.max(left, at(match.index) - margin * 0.6);
    const end = Math.min(left + box.width, at(last) + margin * 0.6);
    return {
      text: match[0],
      x: start,
      y: y + height * (0.5 - belowShare),
      width: Math.max(1, end - start),
      size: height * sizeShare,
      angle: 0,
      isBold: false,
      isSpaced: match.index > 0,
    };
  });
}

/** A place after a turn around the corner of the picture. */
export function turn(x: number, y: number, angle: number): [x: number, y: number] {
  return [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)];
}

/** The angle of the lines. Long lines count more: the angles of short ones are not exact. */
function skewOf(lines: readonly PictureLine[]): number {
  const weights = lines
    .map(({ box }) => ({ angle: box.angle, weight: box.width ** 2 }))
    .toSorted((one, other) => one.angle - other.angle);
  let left = weights.reduce((sum, { weight }) => sum + weight, 0) / 2;
  return weights.find(({ weight }) => (left -= weight) <= 0)?.angle ?? 0;
}

function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
}
