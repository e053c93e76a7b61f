import type { Element, ElementContent, Root, Text } from 'hast';

const unread = new Set(['code', 'pre', 'a']);

/**
 * A rehype plugin that turns `[n]` into an element `cite-mark` with the number and, as `at`, its position in the
 * Markdown. Numbers without a passage stay text. It runs after the sanitizer: a model cannot write such an element.
 */
export function markCitations(passages: number): () => (tree: Root) => void {
  return () => (tree) => visit(tree, passages);
}

function visit(parent: Root | Element, passages: number): void {
  parent.children = parent.children.flatMap((child): ElementContent[] => {
    if (child.type === 'text') return split(child, passages);
    if (child.type === 'element' && !unread.has(child.tagName)) visit(child, passages);
    return [child as ElementContent];
  });
}

function split({ value, position }: Text, passages: number): ElementContent[] {
  let at = position?.start.offset ?? 0;
  return value.split(/(\[\d{1,3}\])/).map((piece): ElementContent => {
    const start = at;
    at += piece.length;
    const number = Number(/^\[(\d{1,3})\]$/.exec(piece)?.[1] ?? 0);
    if (number < 1 || number > passages) return { type: 'text', value: piece };
    return {
      type: 'element',
      tagName: 'cite-mark',
      properties: { number: String(number), at: String(start) },
      children: [],
    };
  });
}
