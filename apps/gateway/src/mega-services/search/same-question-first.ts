import type { RetrievedDocument } from '#platform/contracts';
import { innermostHeading } from '#answers/evidence';
import { asksTheSame } from '#answers/questions';

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
