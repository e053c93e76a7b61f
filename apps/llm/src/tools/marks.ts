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
