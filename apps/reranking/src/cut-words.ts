/** The text's first `limit` words, exactly as they stand in it; the whole text where it has no more. */
export function cutWords(text: string, limit: number): string {
  const words = text.matchAll(/\S+/g);
  let end = 0;
  for (let count = 0; count < limit; count += 1) {
    const next = words.next();
    if (next.done) return text;
    end = next.value.index + next.value[0].length;
  }
  return words.next().done ? text : text.slice(0, end);
}
