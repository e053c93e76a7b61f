import type { RankedSentence } from './rank-sentences.js';

/** Questions that more than one row or item may answer. */
const asksForSeveral =
  /^(?:and )?(?:which|what)(?: [\p{L}-]+){0,2} [\p{L}-]+s(?: (?:of|in|for|on|from|with)(?: [\p{L}-]+){1,3})? (?:are|do|does|can|have|were|is|must|may|should|exist)\b|^what are\b|^(?:list|name|enumerate)\b|\b(?:all|every|each of) the\b/iu;
/** Rows and items that are quoted at most. */
const mostQuoted = 8;
/** How far behind the first, in logits, another row or item may be. */
const farBehind = 2.5;

/**
 * Where the question asks for several things and the first of the ranking is a row or an item: that and its kin in the same
 * passage that answer nearly as well, in the passage's order. Otherwise undefined.
 */
export function severalOf(question: string, ranked: readonly RankedSentence[]): RankedSentence[] | undefined {
  const [first] = ranked;
  const kind = first?.candidate.sentence.kind;
  if (!first || (kind !== 'row' && kind !== 'item') || !asksForSeveral.test(question.trim()))
    return undefined;
  const kin = ranked.filter(
    ({ candidate: { sentence }, logit }) =>
      sentence.kind === kind &&
      sentence.passage === first.candidate.sentence.passage &&
      logit > first.logit - farBehind,
  );
  if (kin.length < 2) return undefined;
  return kin
    .slice(0, mostQuoted)
    .toSorted((left, right) => left.candidate.sentence.index - right.candidate.sentence.index);
}
