import type { Citation } from '#platform/contracts';

/** The numbers `[n]` of an answer: its passages count from 1 in the order of their first use. */
export class CitationNumbers {
  readonly #numbers = new Map<number, number>();

  /** The number in the answer for the number of a passage in the prompt. */
  of(passage: number): number {
    const known = this.#numbers.get(passage) ?? this.#numbers.size + 1;
    this.#numbers.set(passage, known);
    return known;
  }
}

/**
 * Citations in the order of their numbers: number n is the n-th one, as clients expect that count their sources.
 * Repeated citations of a passage follow after the first citation of each passage.
 */
export function byNumber<Cited extends Citation>(citations: readonly Cited[]): Cited[] {
  const seen = new Set<number>();
  const isFirst = ({ passage }: Citation) => !seen.has(passage) && seen.add(passage);
  const first = citations.filter(isFirst).toSorted((left, right) => left.passage - right.passage);
  return [...first, ...citations.filter((citation) => !first.includes(citation))];
}
