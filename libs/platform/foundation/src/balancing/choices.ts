import { createHash } from 'node:crypto';

/** Two different random items; all items if there are fewer. `random`: 0 to 1, below 1. */
export function twoOf<Item>(items: readonly Item[], random: () => number = Math.random): Item[] {
  if (items.length < 2) return [...items];
  const first = Math.floor(random() * items.length);
  const step = 1 + Math.floor(random() * (items.length - 1));
  return [items[first]!, items[(first + step) % items.length]!];
}

/** The item for a key, the same one in every process (rendezvous hashing); undefined without an item. */
export function preferredOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  key: string,
): Item | undefined {
  let [best, highest] = [undefined as Item | undefined, ''];
  for (const item of items) {
    const weight = createHash('sha1').update(`${key} ${item.id}`).digest('hex');
    if (weight > highest) [best, highest] = [item, weight];
  }
  return best;
}
