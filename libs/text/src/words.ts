/** Number of words: what stands between spaces. */
export function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** The text's first `count` words, exactly as they stand in it; the whole text where it has no more. */
export function firstWords(text: string, count: number): string {
  const words = text.matchAll(/\S+/g);
  let end = 0;
  for (let read = 0; read < count; read += 1) {
    const next = words.next();
    if (next.done) return text;
    end = next.value.index + next.value[0].length;
  }
  return words.next().done ? text : text.slice(0, end);
}
