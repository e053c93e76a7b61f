import type { Citation } from '#contracts';
import type { AnswerCheck, CheckedPiece } from './answer-check.js';
import type { Passage } from './passage.js';
import { sentencesOf } from './sentences.js';

/** `[1]`, `[1, 2]` */
const marker = /\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]/g;

/** Lets an answer through as it is; at its end the markers `[n]` in it are resolved to the passages they name. */
export class CitationCheck implements AnswerCheck {
  #answer = '';

  constructor(private readonly passages: readonly Passage[]) {}

  push({ text, logprobs, finishReason }: Parameters<AnswerCheck['push']>[0]): CheckedPiece {
    this.#answer += text;
    const piece = { text, ...(logprobs && { logprobs }) };
    if (!finishReason) return piece;
    const citations = findCitations(this.#answer, this.passages);
    return { ...piece, finishReason, ...(citations.length > 0 && { citations }) };
  }
}

/**
 * One citation per marker and number: its quote is the sentence that the marker ends, as it stands in the answer.
 * Numbers without a passage and markers without a sentence before them give none.
 */
export function findCitations(answer: string, passages: readonly Passage[]): Citation[] {
  const citations: Citation[] = [];
  let statement = { startIndex: 0, endIndex: 0 };
  let previousEnd = 0;
  for (const match of answer.matchAll(marker)) {
    statement = lastSentence(answer, previousEnd, match.index) ?? statement;
    previousEnd = match.index + match[0].length;
    const quote = answer.slice(statement.startIndex, statement.endIndex);
    if (quote === '') continue;
    for (const number of match[1]!.split(',').map(Number)) {
      const passage = passages.find((candidate) => candidate.number === number);
      if (passage) citations.push({ ...statement, passage: number, documentId: passage.documentId, quote });
    }
  }
  return citations;
}

/** Where the last sentence between two markers stands; undefined when there are no words between them. */
function lastSentence(answer: string, from: number, to: number) {
  const between = answer.slice(from, to).trimEnd();
  const sentence = sentencesOf(between).findLast((candidate) => /[\p{L}\p{N}]/u.test(candidate));
  if (!sentence) return undefined;
  // Sentences are normalised, so the answer is searched for the last one's words.
  const words = sentence.replace(/^[^\p{L}\p{N}]+/u, '').split(' ');
  const pattern = new RegExp(words.map(escapePattern).join(String.raw`\s+`), 'gu');
  const index = [...between.matchAll(pattern)].at(-1)?.index ?? 0;
  return { startIndex: from + index, endIndex: from + between.length };
}

function escapePattern(word: string): string {
  return word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
