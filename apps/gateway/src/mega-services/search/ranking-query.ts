import { contentWords } from '#answers/questions';
import { countWords } from '#platform/foundation';

/** Passages that are compared with the queries. */
const maxTexts = 10;
/** Another query ranks alone if the share of its words in the passages is so much greater than that of the first. */
const minLead = 0.35;
/** Characters that different forms of a word have in common. */
const stemCharacters = 5;
/** Words of several queries together: a reranking model reads a query and a passage in one window. */
const maxWords = 60;

/**
 * The text that ranks passages for a model's queries: the first query, which is the whole question, with the words of
 * the others behind it. If another query has far more words in common with the passages, this one alone: then the first
 * query has another language than the passages.
 */
export function rankingQuery(queries: readonly string[], texts: readonly string[]): string {
  const [first = '', ...others] = queries;
  const said = texts.slice(0, maxTexts).join('\n').toLowerCase();
  const best = others
    .map((query) => ({ query, share: shareIn(said, query) }))
    .toSorted((left, right) => right.share - left.share)[0];
  if (best && best.share >= shareIn(said, first) + minLead) return best.query;
  return others.reduce((joined, query) => {
    const longer = `${joined} ${query}`;
    return countWords(longer) <= maxWords ? longer : joined;
  }, first);
}

/** The share of the content words of a query that a text in lower case contains. */
function shareIn(text: string, query: string): number {
  const words = contentWords(query.toLowerCase());
  const known = words.filter((word) => text.includes(word.slice(0, stemCharacters)));
  return words.length === 0 ? 0 : known.length / words.length;
}
