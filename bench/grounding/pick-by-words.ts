import { sentencesOf } from '../../apps/llm/src/grounding/sentences.js';
import { stemsOf } from '../../apps/llm/src/reading/evidence.js';
import type { Asked, Question } from './ask.js';

interface Found {
  reranked_docs: { text: string; metadata: { filename: string } }[];
}

/** The baseline: the sentence with most of the question's words, those elsewhere in its passage counting half. */
export async function pick(
  url: string,
  collection: string,
  { question }: Question,
): Promise<Pick<Asked, 'text' | 'cited'>> {
  const body = JSON.stringify({ text: question, collection, top_n: 3 });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/retrievaltool`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  const { reranked_docs: documents } = (await answer.json()) as Found;
  const words = [...new Set(stemsOf(question))];
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
