import type { RetrievedDocument } from '#contracts';
import { countWords, firstWords } from '#text';
import { createPassage, type Passage } from './passage.js';
import { sentencesOf } from './sentences.js';

export interface PassageLimits {
  readonly maxPassages: number;
  /** Words of all passages together. */
  readonly maxContextWords: number;
}

/**
 * The passages that fit, best first as the documents came: whole ones, the last one cut at the end of a sentence. There
 * is always one if there is any text: a first sentence beyond the limit is cut at a word.
 */
export function selectPassages(documents: readonly RetrievedDocument[], limits: PassageLimits): Passage[] {
  const passages: Passage[] = [];
  let room = limits.maxContextWords;
  for (const { id, text } of documents) {
    if (passages.length === limits.maxPassages || room <= 0) break;
    const sentences = sentencesOf(text);
    if (sentences.length === 0) continue;
    const fitting = fittingSentences(sentences, room);
    if (fitting.length > 0) passages.push(createPassage(passages.length + 1, id, fitting));
    else if (passages.length === 0) passages.push(createPassage(1, id, [firstWords(sentences[0]!, room)]));
    if (fitting.length < sentences.length) break;
    room -= countWords(fitting.join(' '));
  }
  return passages;
}

function fittingSentences(sentences: readonly string[], room: number): string[] {
  let words = 0;
  const tooFar = sentences.findIndex((sentence) => (words += countWords(sentence)) > room);
  return tooFar === -1 ? [...sentences] : sentences.slice(0, tooFar);
}
