import type { ReadPassage } from '../sentence.js';
import { stemsOf } from '../stems.js';

/**
 * The documents of passages that a question names: the question has more words of their titles or file names than of
 * the others'. Words that all of the documents have in their names do not count. Empty where none is named, or all are.
 */
export function namedDocuments(question: string, passages: readonly ReadPassage[]): ReadonlySet<string> {
  const names = new Map<string, Set<string>>();
  for (const { document, title } of passages)
    names.set(document, new Set(stemsOf(`${title} ${document.replaceAll(/[_-]/g, ' ')}`)));
  if (names.size < 2) return new Set();
  const asked = new Set(stemsOf(question));
  const shared = (stem: string) => [...names.values()].every((stems) => stems.has(stem));
  const counts = [...names].map(([document, stems]) => {
    const named = [...stems].filter((stem) => asked.has(stem) && !shared(stem));
    return { document, count: named.length };
  });
  const most = Math.max(...counts.map(({ count }) => count));
  const named = counts.filter(({ count }) => count === most && most > 0);
  return new Set(named.length < counts.length ? named.map(({ document }) => document) : []);
}
