import { firstOf, partialEnd } from './marks.js';

/** The part of an unfinished text that can be passed on, and the mark after it. */
export interface ToldText {
  text: string;
  /** Where the rest of the text begins, which is not passed on yet. */
  from: number;
  /** The whole mark at that place. */
  mark?: string;
  /** Space before that mark; it is text where the mark does not begin a call. */
  space: string;
}

/**
 * The text before the first mark. Without a mark, space at the end and the beginning of a possible mark are kept back: they
 * may belong to a call.
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
