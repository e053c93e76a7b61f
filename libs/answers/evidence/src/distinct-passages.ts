import type { RetrievedDocument } from '#platform/contracts';
import { headingsOf, partsOf } from './chunk.js';

/** Minimum share of the word triples of the shorter text that the other text has, too. */
const minShared = 0.8;
/** Shorter texts may be equal and mean different things. */
const minWords = 8;

/**
 * Passages without those that repeat a better one of the same document, or of a document with the same title and
 * headings. Texts with other names or numbers are no repetition: leaflets of one kind differ in these alone.
 */
export function withoutRepetitions(found: readonly RetrievedDocument[]): RetrievedDocument[] {
  const kept: { document: RetrievedDocument; words: string[]; triples: Set<string> }[] = [];
  for (const document of found) {
    if (kept.some((other) => other.document.id === document.id)) continue;
    const words = document.text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const triples = new Set(
      words.slice(2).map((word, index) => `${words[index]} ${words[index + 1]} ${word}`),
    );
    const repeats = kept.some(
      (other) => isSameSubject(other.document, document) && isRepeated(other, { document, words, triples }),
    );
    if (!repeats) kept.push({ document, words, triples });
  }
  return kept.map(({ document }) => document);
}

function isSameSubject(left: RetrievedDocument, right: RetrievedDocument): boolean {
  if (left.metadata['document_id'] === right.metadata['document_id']) return true;
  const path = headingsOf(left).join(' > ');
  return path !== '' && path === headingsOf(right).join(' > ');
}

interface Words {
  readonly document: RetrievedDocument;
  readonly words: readonly string[];
  readonly triples: ReadonlySet<string>;
}

function isRepeated(better: Words, other: Words): boolean {
  if (other.words.length < minWords || other.words.length > better.words.length * 1.2) return false;
  const shared = [...other.triples].filter((triple) => better.triples.has(triple)).length;
  if (shared < other.triples.size * minShared) return false;
  return factsOf(other.document.text).every((fact) => better.document.text.includes(fact));
}

/** Numbers and names. */
function factsOf(text: string): string[] {
  return text.match(/\p{Lu}[\p{L}\p{N}]+|\p{N}[\p{N}.,:-]*/gu) ?? [];
}

/** Prose and tables first, examples of code and JSON after them, both in the given order. */
export function proseFirst(found: readonly RetrievedDocument[]): RetrievedDocument[] {
  return [...found.filter((document) => !isExample(document)), ...found.filter(isExample)];
}

function isExample(document: RetrievedDocument): boolean {
  const parts = partsOf(document);
  return parts.length > 0 && parts.every(({ kind, text }) => kind === 'code' || isJson(text));
}

function isJson(text: string): boolean {
  return /^\s*[[{]\s*["[{]/.test(text) && /["\d}\]]\s*[,:]?\s*$/.test(text);
}
