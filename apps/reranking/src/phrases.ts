import { pairsOf, splitWords, stemOf } from '#encoders';

/**
 * How many phrases of a query each text has: two words that follow each other but for stop words, compared by their stems. A search
 * by words does not see their order.
 */
export function sharedPhrases(query: string, texts: readonly string[]): number[] {
  const asked = phrasesOf(query);
  return texts.map((text) => [...phrasesOf(text)].filter((phrase) => asked.has(phrase)).length);
}

function phrasesOf(text: string): Set<string> {
  return pairsOf(splitWords(text).flatMap((word) => stemOf(word) ?? []));
}
