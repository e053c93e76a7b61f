import { z } from 'zod';
import { newItemId } from '../ids.js';
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
