import type { StoredItem } from '../items/input-items.js';

/**
 * Where a conversation can be cut so that what follows makes sense alone: places behind which no output of a tool lacks
 * its call. Ascending, from 0 to the number of items.
 */
export function safeCuts(items: readonly StoredItem[]): number[] {
  const cuts = [items.length];
  const wanted = new Set<unknown>();
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    const callId = item?.['call_id'];
    if (callId !== undefined && item?.type.endsWith('_output')) wanted.add(callId);
    else wanted.delete(callId);
    if (wanted.size === 0) cuts.push(index);
  }
  return cuts.toReversed();
}

/** Calls that have no output yet: the conversation cannot go on without them. */
export function openCalls(items: readonly StoredItem[]): StoredItem[] {
  const answered = new Set(
    items.filter(({ type }) => type.endsWith('_output')).map((item) => item['call_id']),
  );
  return items.filter(
    (item) =>
      item['call_id'] !== undefined && !item.type.endsWith('_output') && !answered.has(item['call_id']),
  );
}
