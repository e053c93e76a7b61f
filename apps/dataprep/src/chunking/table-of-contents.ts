import type { DocumentBlock } from '../reading/parsed-document.js';

/** Minimum number of lines in a row: fewer are not a table of contents. */
const minLines = 3;

/**
 * Removes tables of contents: lines in a row that repeat headings which follow. They answer nothing, and the headings
 * have their words. Other lists stay, also where a single item has the words of a heading.
 */
export function withoutContents(blocks: readonly DocumentBlock[]): DocumentBlock[] {
  const lastAt = new Map<string, number>();
  blocks.forEach(({ kind, text }, index) => {
    if (kind === 'heading') lastAt.set(plain(text), index);
  });
  const repeats = blocks.map(
    ({ kind, text }, index) =>
      (kind === 'list-item' || kind === 'paragraph') && (lastAt.get(plain(text)) ?? -1) > index,
  );
  const kept: DocumentBlock[] = [];
  for (let at = 0; at < blocks.length;) {
    const end = repeats.indexOf(false, at);
    const length = (end === -1 ? blocks.length : end) - at;
    const run = blocks.slice(at, at + Math.max(1, length));
    if (length < minLines) kept.push(...run);
    at += run.length;
  }
  return kept;
}

/** A heading without its number, its page, and the dots before it. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/(?:[\s.·…_]{3,}|\s+)\d{1,4}$/, '')
    .replace(/^(?:(?:\d+|[a-z])[.)]\s*)+|^\d+(?:\.\d+)*\s+/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
