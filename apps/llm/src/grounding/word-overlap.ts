import { contentWords } from './words.js';

/**
 * How alike texts are in their words, 0–1: the harmonic mean of what each shares with the other, where a word counts
 * the less the more of the compared sentences have it.
 */
export class WordOverlap {
  readonly #frequency = new Map<string, number>();

  /** @param sentences What will be compared; they decide how much a word tells. */
  constructor(sentences: Iterable<string>) {
    for (const sentence of sentences) {
      for (const word of new Set(contentWords(sentence)))
        this.#frequency.set(word, (this.#frequency.get(word) ?? 0) + 1);
    }
  }

  compare(left: string, right: string): number {
    const leftWords = new Set(contentWords(left));
    const rightWords = new Set(contentWords(right));
    const shared = this.#weight([...leftWords].filter((word) => rightWords.has(word)));
    const total = this.#weight(leftWords) + this.#weight(rightWords);
    return total === 0 ? 0 : (2 * shared) / total;
  }

  #weight(words: Iterable<string>): number {
    let sum = 0;
    for (const word of words) sum += 1 / (this.#frequency.get(word) ?? 1);
    return sum;
  }
}
