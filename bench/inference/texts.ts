const vocabulary =
  'a stream of messages is replicated across several nodes and durable consumers acknowledge every one that they have stored'.split(
    ' ',
  );

/** Returns this number of words, in a different order for each seed. */
export function words(seed: number, count: number): string {
  return Array.from(
    { length: count },
    (_unused, index) => vocabulary[(seed * 7 + index * 3) % vocabulary.length],
  ).join(' ');
}

/** Texts of a length, by title. */
export const textSets: Readonly<Record<string, readonly string[]>> = {
  'short texts, 12 words': Array.from({ length: 256 }, (_unused, index) => words(index, 12)),
  'mixed texts, 8 to 80 words': Array.from({ length: 128 }, (_unused, index) =>
    words(index, 8 + ((index * 37) % 73)),
  ),
};

/** Runs `work` on every item with limited concurrency; returns the number of items. */
export async function atOnce<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<unknown>,
): Promise<number> {
  const waiting = [...items];
  const worker = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await work(next);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return items.length;
}
