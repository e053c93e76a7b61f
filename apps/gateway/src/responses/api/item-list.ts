/** OpenAI's list of objects with ids; an empty one has empty ids. */
export function itemList<Item extends { id?: string }>({
  items,
  hasMore,
}: {
  items: Item[];
  hasMore: boolean;
}) {
  return {
    object: 'list' as const,
    data: items,
    first_id: items[0]?.id ?? '',
    last_id: items.at(-1)?.id ?? '',
    has_more: hasMore,
  };
}
