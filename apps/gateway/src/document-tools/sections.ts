import type { StoredChunk } from '#platform/contracts';

/** A range of passages of a document, inclusive. */
export interface PassageRange {
  from: number;
  to: number;
}

const headingOf = ({ metadata }: StoredChunk) => metadata['heading'];

/**
 * Widens a range to the whole sections that it touches, as far as the known chunks and the limit of characters allow. A
 * range that is itself longer is cut at its end.
 */
export function wholeSections(
  chunks: readonly StoredChunk[],
  { from, to }: PassageRange,
  maxCharacters: number,
): StoredChunk[] {
  const first = chunks.findIndex(({ index }) => index >= from);
  if (first === -1) return [];
  const beyond = chunks.findIndex(({ index }) => index > to);
  const last = Math.max(first, (beyond === -1 ? chunks.length : beyond) - 1);
  let [start, end] = [first, last];
  while (start > 0 && sameSection(chunks[start - 1], chunks[first])) start -= 1;
  while (end < chunks.length - 1 && sameSection(chunks[end + 1], chunks[last])) end += 1;
  const isTooLong = () => lengthOf(chunks, start, end) > maxCharacters;
  while (isTooLong() && end > last) end -= 1;
  while (isTooLong() && start < first) start += 1;
  while (isTooLong() && end > start) end -= 1;
  return chunks.slice(start, end + 1);
}

function sameSection(a: StoredChunk | undefined, b: StoredChunk | undefined): boolean {
  return a !== undefined && b !== undefined && headingOf(a) === headingOf(b);
}

function lengthOf(chunks: readonly StoredChunk[], start: number, end: number): number {
  return chunks.slice(start, end + 1).reduce((sum, { text }) => sum + text.length, 0);
}
