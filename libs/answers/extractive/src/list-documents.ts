import type { FixedTexts } from '#answers/questions';
import type { AnswerBlock } from './answer-block.js';
import type { ReadPassage, Sentence } from './sentence.js';
import { stemsOf } from './stems.js';

/** Documents that are listed. */
const maxDocuments = 10;
/** Words of the sentence that shows how a document mentions what is asked for. */
const maxWords = 30;

/** The documents of passages that mention a topic, each with a sentence about it. */
export interface DocumentList {
  readonly opening: string;
  readonly blocks: readonly AnswerBlock[];
}

/**
 * The documents with all words of a topic in one of their passages, the closest first. `isPartial`: the search may not
 * have found all passages. Undefined where none has them.
 */
export function listDocuments(
  topic: string,
  passages: readonly ReadPassage[],
  { texts, isPartial }: { texts: FixedTexts; isPartial: boolean },
): DocumentList | undefined {
  const wanted = [...new Set(stemsOf(topic))];
  if (wanted.length === 0) return undefined;
  const found = new Map<string, { passage: ReadPassage; sentence: Sentence }>();
  for (const passage of passages) {
    const { document, heading, sentences } = passage;
    const about = stemsOf(`${heading} ${document.replaceAll(/[_-]/g, ' ')}`);
    const stems = new Set([...about, ...sentences.flatMap(({ text }) => stemsOf(text))]);
    const sentence = bestOf(wanted, sentences);
    if (sentence && !found.has(document) && wanted.every((stem) => stems.has(stem)))
      found.set(document, { passage, sentence });
  }
  if (found.size === 0) return undefined;
  const blocks = [...found.values()].slice(0, maxDocuments).map(({ passage, sentence }) => {
    const { title, document } = passage;
    const name = title === '' || title === document ? document : `${title} (${document})`;
    const text = shown(sentence);
    return {
      lead: `- **${name}**: `,
      text,
      answer: { start: 0, end: text.length },
      quote: sentence.text,
      passage: sentence.passage,
      documentId: sentence.documentId,
    };
  });
  return { opening: texts.mentions(topic, isPartial), blocks };
}

/** The sentence with most words of the topic. */
function bestOf(wanted: readonly string[], sentences: readonly Sentence[]): Sentence | undefined {
  const shared = (sentence: Sentence) => {
    const own = new Set(stemsOf(sentence.text));
    return wanted.filter((stem) => own.has(stem)).length;
  };
  return sentences.reduce<Sentence | undefined>(
    (best, one) => (best === undefined || shared(one) > shared(best) ? one : best),
    undefined,
  );
}

/** The beginning of a long sentence; the cells of a row without their headers. */
function shown({ text, kind }: Sentence): string {
  const cells = text.split('; ').map((cell) => cell.replace(/^[^:]{1,60}: /, ''));
  return (kind === 'row' ? cells.join(', ') : text).split(' ').slice(0, maxWords).join(' ');
}
