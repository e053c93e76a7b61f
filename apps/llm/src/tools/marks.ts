/** The first of the marks in a text, and where it stands. */
export function firstOf(text: string, marks: readonly string[]): { at: number; mark: string } | undefined {
  const found = marks.map((mark) => ({ at: text.indexOf(mark), mark })).filter(({ at }) => at >= 0);
  return found.reduce<(typeof found)[number] | undefined>(
    (first, each) => (!first || each.at < first.at ? each : first),
    undefined,
  );
}

/** Characters at the end of a text that may be the beginning of a mark. */
export function partialEnd(text: string, mark: string): number {
  for (let length = Math.min(text.length, mark.length - 1); length > 0; length -= 1) {
    if (mark.startsWith(text.slice(-length))) return length;
  }
  return 0;
}

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
