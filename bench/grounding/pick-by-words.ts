import type { RetrievedDocument } from '#platform/contracts';
import { sentencesOf } from '#platform/foundation';
import { stemsOf } from '#answers/extractive';
import type { Asked, Question } from './ask.js';

interface Found {
  reranked_docs: (Pick<RetrievedDocument, 'id' | 'text' | 'score'> & { metadata: { filename: string } })[];
}

/** Returns the search results for a question, best first. */
export async function search(
  url: string,
  collection: string,
  { question }: Question,
  count: number,
): Promise<Found['reranked_docs']> {
  const body = JSON.stringify({ text: question, collection, top_n: count });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/retrievaltool`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  const { reranked_docs: documents } = (await answer.json()) as Found;
  return documents;
}

/** The baseline: picks the sentence with most of the question's words; words elsewhere in its passage count half. */
export async function pick(
  url: string,
  collection: string,
  given: Question,
): Promise<Pick<Asked, 'text' | 'cited'>> {
  const documents = await search(url, collection, given, 3);
  const words = [...new Set(stemsOf(given.question))];
  const share = (text: string) => {
    const own = new Set(stemsOf(text));
    return words.filter((word) => own.has(word)).length;
  };
  const [best] = documents
    .flatMap(({ text, metadata }) =>
      sentencesOf(text).map((sentence) => ({
        sentence,
        filename: metadata.filename,
        score: share(sentence) + share(text) / 2,
      })),
    )
    .toSorted((left, right) => right.score - left.score);
  return best ? { text: best.sentence, cited: [best.filename] } : { text: '', cited: [] };
}
