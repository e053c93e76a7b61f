import { z } from 'zod';
import { newItemId } from '../response-object.js';
import type { StoredItem } from '../items/input-items.js';
import type { Compaction } from '../items/output-items.js';

const compactedContextSchema = z.object({
  /** What the conversation goes on from, oldest first. */
  items: z.array(z.looseObject({ type: z.string(), id: z.string() })),
  /** Ids of everything that it stands for. */
  covers: z.array(z.string()),
});

/** What a compaction item holds, sealed. */
export type CompactedContext = z.infer<typeof compactedContextSchema>;

export function compactedContextOf(text: string): CompactedContext {
  return compactedContextSchema.parse(JSON.parse(text));
}

/** The item that a client keeps in place of what it stands for. */
export function compactionItem(encrypted_content: string): Compaction {
  return { id: newItemId('compaction'), type: 'compaction', encrypted_content };
}

/**
 * Puts what compaction items hold into their place, and takes away what they stand for: items of the same id, and
 * messages of the user with the same text, because clients send these along and some drop the ids. `open` gets an item
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

/** True for what the user said. */
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
