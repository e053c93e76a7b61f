import { z } from 'zod';
import { newItemId } from '../response-object.js';
import type { StoredItem } from '../items/input-items.js';
import type { Compaction } from '../items/output-items.js';

const compactedContextSchema = z.object({
  /** The items that replace the compacted part of the conversation, oldest first. */
  items: z.array(z.looseObject({ type: z.string(), id: z.string() })),
  /** Ids of the items that the compaction replaces. */
  covers: z.array(z.string()),
});

/** The content of a compaction item, before it is sealed. */
export type CompactedContext = z.infer<typeof compactedContextSchema>;

export function compactedContextOf(text: string): CompactedContext {
  return compactedContextSchema.parse(JSON.parse(text));
}

/** The item that a client keeps in place of the compacted items. */
export function compactionItem(encrypted_content: string): Compaction {
  return { id: newItemId('compaction'), type: 'compaction', encrypted_content };
}

/**
 * Replaces compaction items by their content, and removes the items that they cover: items with the same id, and user
 * messages with the same text, because clients send the covered items too and some drop the ids. `open` gets an item
 * and its index.
 */
export function expandCompactions(
  items: readonly StoredItem[],
  open: (item: StoredItem, index: number) => CompactedContext,
): StoredItem[] {
  let expanded: StoredItem[] = [];
  for (const [index, item] of items.entries()) {
    if (item.type !== 'compaction') {
      expanded.push(item);
      continue;
    }
    const { items: held, covers } = open(item, index);
    const ids = new Set(covers);
    const texts = new Set(held.filter(isUserMessage).map(textOf));
    const stillApart = (before: StoredItem) =>
      !ids.has(before.id) && !(isUserMessage(before) && texts.has(textOf(before)));
    expanded = [...expanded.filter(stillApart), ...held];
  }
  return expanded;
}

/** True for a message of the user. */
export function isUserMessage(item: StoredItem): boolean {
  return item.type === 'message' && item['role'] === 'user';
}

function textOf(item: StoredItem): string {
  const content = item['content'];
  if (!Array.isArray(content)) return String(content);
  return (content as { text?: unknown }[])
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n');
}

/**
 * Indexes where a conversation can be cut so that the rest is complete: each output of a tool after the cut has its
 * call after the cut too. Ascending, from 0 to the number of items.
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

/** Calls without an output: the conversation cannot continue without them. */
export function openCalls(items: readonly StoredItem[]): StoredItem[] {
  const answered = new Set(
    items.filter(({ type }) => type.endsWith('_output')).map((item) => item['call_id']),
  );
  return items.filter(
    (item) =>
      item['call_id'] !== undefined && !item.type.endsWith('_output') && !answered.has(item['call_id']),
  );
}
