import type { DocumentBlock } from '../../parsed-document.js';
import type { PdfDocument } from '../content/open-pdf.js';

/** An entry of the outline of a document. */
export interface OutlineEntry {
  title: string;
  /** Depth, from 1. */
  level: number;
  page: number;
}

const maxEntries = 5_000;
type Item = Awaited<ReturnType<PdfDocument['getOutline']>>[number];

/** The entries of the outline whose pages are known, in order. */
export async function readOutline(pdf: PdfDocument): Promise<OutlineEntry[]> {
  const entries: OutlineEntry[] = [];
  const add = async (items: readonly Item[], level: number): Promise<void> => {
    for (const { title, dest, items: children } of items) {
      if (entries.length >= maxEntries) return;
      const page = await pageOf(pdf, dest);
      if (page !== undefined) entries.push({ title, level, page });
      await add(children as Item[], level + 1);
    }
  };
  await add((await pdf.getOutline()) ?? [], 1);
  return entries;
}

/** The page of a destination; undefined if the file is damaged. */
async function pageOf(pdf: PdfDocument, dest: Item['dest']): Promise<number | undefined> {
  try {
    const [target] = (typeof dest === 'string' ? await pdf.getDestination(dest) : dest) ?? [];
    if (typeof target === 'number') return target + 1;
    return target ? (await pdf.getPageIndex(target)) + 1 : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the blocks that the outline names headings of its levels. Other headings are below the entry before them. */
export function withOutline(
  blocks: readonly DocumentBlock[],
  entries: readonly OutlineEntry[],
): DocumentBlock[] {
  const open = new Map<string, OutlineEntry[]>();
  for (const entry of entries) {
    const key = `${entry.page} ${plain(entry.title)}`;
    open.set(key, [...(open.get(key) ?? []), entry]);
  }
  let depth = 0;
  return blocks.map((block) => {
    const entry = isTitle(block) ? open.get(`${block.page} ${plain(block.text)}`)?.shift() : undefined;
    if (entry) {
      depth = entry.level;
      return { kind: 'heading', level: Math.min(entry.level, 6), text: block.text, ...pageOfBlock(block) };
    }
    return block.kind === 'heading' && depth > 0
      ? { ...block, level: Math.min(6, Math.max(block.level ?? 1, depth + 1)) }
      : block;
  });
}

const isTitle = ({ kind }: DocumentBlock) =>
  kind === 'heading' || kind === 'paragraph' || kind === 'list-item';

const pageOfBlock = ({ page }: DocumentBlock) => (page === undefined ? {} : { page });

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}
