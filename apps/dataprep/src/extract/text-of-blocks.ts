import type { BlockKind, DocumentBlock } from '../reading/parsed-document.js';

/** Kinds whose neighbours of the same kind stand on the next line; all others are parted by a blank line. */
const gathered: ReadonlySet<BlockKind> = new Set(['list-item', 'table-row']);

/** A document's blocks as plain text in reading order. */
export function textOfBlocks(blocks: readonly DocumentBlock[]): string {
  let text = '';
  const filled = blocks.filter((block) => !block.ends);
  filled.forEach((block, index) => {
    const before = filled[index - 1];
    if (before) text += before.kind === block.kind && gathered.has(block.kind) ? '\n' : '\n\n';
    text += block.kind === 'list-item' ? `- ${block.text}` : block.text;
  });
  return text;
}
