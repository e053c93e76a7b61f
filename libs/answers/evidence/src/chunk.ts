import type { Neighbour } from '#platform/contracts';

/** The kind of a part of a chunk in its document. */
export type PartKind = 'paragraph' | 'item' | 'row' | 'code';

/** A part of a chunk between blank lines. */
export interface ChunkPart {
  readonly kind: PartKind;
  readonly text: string;
}

/** Letters of the ingestion for the kinds of parts. */
const kindLetters: Readonly<Record<string, PartKind>> = { p: 'paragraph', i: 'item', r: 'row', c: 'code' };

/** The parts of a chunk with their kinds. Parts of code that follow each other are one part. */
export function partsOf({ text, metadata }: Pick<Neighbour, 'text' | 'metadata'>): ChunkPart[] {
  const letters = typeof metadata['blocks'] === 'string' ? metadata['blocks'] : '';
  const texts = text.split(/\n\s*\n/);
  const isKnown = letters.length === texts.length;
  const parts: ChunkPart[] = [];
  for (const [index, part] of texts.entries()) {
    if (part.trim() === '') continue;
    const kind = (isKnown ? kindLetters[letters[index]!] : undefined) ?? 'paragraph';
    const before = parts.at(-1);
    if (kind === 'code' && before?.kind === 'code')
      parts[parts.length - 1] = { kind, text: `${before.text}\n\n${part}` };
    else parts.push({ kind, text: part });
  }
  return parts;
}

/** Whether a chunk has rows of a table. */
export function hasRows({ metadata }: Pick<Neighbour, 'metadata'>): boolean {
  return typeof metadata['blocks'] === 'string' && metadata['blocks'].includes('r');
}

/** Whether a chunk begins within a paragraph, an item or a row that the chunk before it began. */
export function continuesBlock({ metadata }: Pick<Neighbour, 'metadata'>): boolean {
  return metadata['continues'] === true;
}

/** The id of a chunk's document and its place there; undefined for a text that is not stored. */
export function placeOf({
  metadata,
}: Pick<Neighbour, 'metadata'>): { document: string; index: number } | undefined {
  const { document_id: document, chunk_index: index } = metadata;
  return typeof document === 'string' && typeof index === 'number' ? { document, index } : undefined;
}

/** The innermost heading above a chunk; empty without one. */
export function innermostHeading({ metadata: { heading } }: Pick<Neighbour, 'metadata'>): string {
  return typeof heading === 'string' ? (heading.split(' > ').at(-1) ?? '') : '';
}

/** The document's title, then the headings above a chunk, the outermost first. */
export function headingsOf({ metadata }: Pick<Neighbour, 'metadata'>): string[] {
  const { title, heading } = metadata;
  const path = typeof heading === 'string' && heading !== '' ? heading.split(' > ') : [];
  // The title of a document is usually its first heading, too.
  return typeof title === 'string' && title !== '' && path[0] !== title ? [title, ...path] : path;
}
