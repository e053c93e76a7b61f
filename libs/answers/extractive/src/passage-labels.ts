import { lastHeading, type ReadPassage } from './sentence.js';

/**
 * Returns the innermost heading of a passage as it is shown: with the heading above it, where it stands below several
 * headings (`Fixed` of each release), or only the one above has a number or a date.
 */
export function labelsOf(
  passages: readonly Pick<ReadPassage, 'headings'>[],
): (headings: readonly string[]) => string {
  const parents = new Map<string, Set<string>>();
  for (const { headings } of passages) {
    if (headings.length < 3) continue;
    const last = headings.at(-1)!.toLowerCase();
    parents.set(last, (parents.get(last) ?? new Set()).add(headings.at(-2)!));
  }
  return (headings) => {
    const last = lastHeading(headings.at(-1) ?? '');
    if (headings.length < 3) return last;
    const parent = lastHeading(headings.at(-2)!);
    const isShared = (parents.get(headings.at(-1)!.toLowerCase())?.size ?? 0) > 1;
    const isDated = /\p{N}/u.test(parent) && !/\p{N}/u.test(last);
    return parent !== '' && (isShared || isDated) ? `${parent} – ${last}` : last;
  };
}
