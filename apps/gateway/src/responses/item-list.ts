import type { ItemPage } from '#storage';

/** OpenAI's list of items; an empty one has empty ids. */
export function itemList({ items, hasMore }: ItemPage) {
  return {
    object: 'list' as const,
    data: items,
    first_id: items[0]?.id ?? '',
    last_id: items.at(-1)?.id ?? '',
    has_more: hasMore,
  };
}
