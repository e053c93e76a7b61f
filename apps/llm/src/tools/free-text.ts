import { firstOf, partialEnd } from './marks.js';

/** What of a text that is being written can be told, and the mark behind it. */
export interface ToldText {
  text: string;
  /** Where the text goes on that is not told yet. */
  from: number;
  /** The mark that stands there, whole. */
  mark?: string;
  /** Space in front of that mark; text where the mark turns out to be none. */
  space: string;
}

/**
 * The text in front of the first mark. Without one all is told but space at the end and what may become a mark: it may
 * turn out to belong to a call.
 */
export function textBefore(buffer: string, marks: readonly string[]): ToldText {
  const next = firstOf(buffer, marks);
  if (next) {
    const before = buffer.slice(0, next.at);
    const said = before.trimEnd();
    return { text: said, from: next.at, mark: next.mark, space: before.slice(said.length) };
  }
  const held = Math.max(...marks.map((mark) => partialEnd(buffer, mark)));
  const text = buffer.slice(0, buffer.length - held).trimEnd();
  return { text, from: text.length, space: '' };
}
