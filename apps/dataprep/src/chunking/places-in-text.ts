import type { DocumentChunk } from './chunk-document.js';

/** Characters that differ between a text and its passages: white space, control characters, soft hyphens. */
const blank = /[\s\p{Cc}\u00ad\u200b]/u;
const blanks = new RegExp(blank, 'gu');
/** A longer text is not searched: each of its characters takes eight bytes. */
const maxCharacters = 16 * 1024 * 1024;
/** Characters between two parts of passages that the passages may lack, as the marks of lists and headings. */
const maxGap = 4_000;
/** Limit for the gap after parts that were not found. */
const maxWideGap = 64_000;

/** A text without blanks, with the offset of each of its characters. */
interface Squeezed {
  text: string;
  offsets: Uint32Array;
}

/** A part of a passage between blank lines, and its offset in the passage. */
interface Part {
  text: string;
  start: number;
}

/**
 * Finds passages in the text that they were read from. Adds `places` to those of which a part is in the text as it is,
 * apart from blanks.
 */
export function withPlaces(text: string, chunks: readonly DocumentChunk[]): DocumentChunk[] {
  if (text.length > maxCharacters) return [...chunks];
  const whole = squeeze(text);
  let [from, before, gap] = [0, 0, maxGap];
  return chunks.map((chunk) => {
    const pairs: string[] = [];
    for (const [index, part] of partsOf(chunk.text).entries()) {
      const wanted = squeeze(part.text);
      const { length } = wanted.text;
      // The beginning of a passage may repeat the end of the one before.
      const starts = index === 0 ? [from, before] : [from];
      const found = starts
        .map((start) =>
          indexWithin(whole.text, wanted.text, { start, gap: start === from ? gap : length + maxGap }),
        )
        .find((at) => at !== -1);
      if (found === undefined) {
        gap = Math.min(gap + 2 * length, maxWideGap);
        pairs.push(`${part.start}:`);
        continue;
      }
      pairs.push(...shiftsOf(part, wanted, whole, found));
      [from, before, gap] = [found + length, found, maxGap];
    }
    return pairs.some((pair) => !pair.endsWith(':')) ? { ...chunk, places: pairs.join(' ') } : chunk;
  });
}

/** The places in a text that begins at an offset of the file. */
export function shiftPlaces(places: string, by: number): string {
  return places.replaceAll(/:(\d+)/g, (_pair, offset: string) => `:${Number(offset) + by}`);
}

function squeeze(text: string): Squeezed {
  const offsets = new Uint32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (blank.test(text[index]!)) continue;
    offsets[length] = index;
    length += 1;
  }
  return { text: text.replaceAll(blanks, ''), offsets };
}

function partsOf(text: string): Part[] {
  let start = 0;
  return text.split('\n\n').flatMap((part) => {
    const at = start;
    start += part.length + 2;
    return part.trim() === '' ? [] : [{ text: part, start: at }];
  });
}

/** Where a text begins within another one, at most `gap` characters behind `start`; -1 if it does not. */
function indexWithin(text: string, wanted: string, { start, gap }: { start: number; gap: number }): number {
  const at = text.slice(start, start + gap + wanted.length).indexOf(wanted);
  return at === -1 ? -1 : start + at;
}

/** `offset in the passage:offset in the document` for the beginning of the part, and wherever their distance changes. */
function shiftsOf(part: Part, { text, offsets }: Squeezed, whole: Squeezed, found: number): string[] {
  const pairs: string[] = [];
  let distance: number | undefined;
  for (let index = 0; index < text.length; index += 1) {
    const inPassage = part.start + offsets[index]!;
    const inDocument = whole.offsets[found + index]!;
    if (inDocument - inPassage === distance) continue;
    distance = inDocument - inPassage;
    pairs.push(`${inPassage}:${inDocument}`);
  }
  return pairs;
}
