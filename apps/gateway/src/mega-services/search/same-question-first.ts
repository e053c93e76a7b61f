import type { RetrievedDocument } from '#contracts';
import { innermostHeading } from '#evidence';
import { asksTheSame } from '#text';

/** The ranked documents, and before them the one whose heading asks the question, as in a page of frequent questions. */
export function sameQuestionFirst(
  question: string,
  documents: readonly RetrievedDocument[],
  ranked: readonly RetrievedDocument[],
): RetrievedDocument[] {
  const [best] = ranked;
  const same = documents.find((document) => asksTheSame(innermostHeading(document), question));
  if (!same || !best) return [...ranked];
  const others = ranked.filter(({ id }) => id !== same.id);
  return [{ ...same, score: best.score }, ...others].slice(0, ranked.length);
}
