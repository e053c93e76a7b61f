import type { Neighbour } from '#platform/contracts';

/** A passage that an answer may cite by its number or by one of its names. */
export interface CitablePassage {
  /** The number in the prompt, from 1. */
  readonly number: number;
  /** The chunks of the passage, with their texts as they are stored. */
  readonly parts: readonly { readonly documentId: string; readonly text: string }[];
  /** Its file, title and address, in lower case. */
  readonly names: readonly string[];
}

const minName = 3;

/** The passage of one or more chunks of a document. */
export function citablePassage(number: number, chunks: readonly Neighbour[]): CitablePassage {
  const names = chunks.flatMap(({ id, metadata }) =>
    [id, metadata['filename'], metadata['title'], metadata['source']].flatMap(namesOf),
  );
  const parts = chunks.map(({ id, text }) => ({ documentId: id, text }));
  return { number, parts, names: [...new Set(names)] };
}

/** A name, and a file also without its extension. */
function namesOf(name: unknown): string[] {
  if (typeof name !== 'string') return [];
  const plain = name.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const short = plain.replace(/\.[a-z]\w{1,4}$/, '');
  // A number or a short word is too common for a name.
  return [plain, short].filter((text) => text.length >= minName && /\p{L}/u.test(text));
}
