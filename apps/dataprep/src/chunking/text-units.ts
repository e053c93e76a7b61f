import type { TimeSpan } from '#platform/contracts';
import { splitSentences } from '#platform/foundation';
import type { DocumentBlock } from '../reading/parsed-document.js';

/**
 * A word is a run of characters between spaces. In scripts without spaces each character counts as a word. A run of
 * more than 100 characters (a long URL, encoded data) counts as several words, so that it can be cut.
 */
const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]{1,100}/gu;

/** Position of a word in its text: UTF-16 offsets, the end excluded. */
interface WordSpan {
  start: number;
  end: number;
}

/** Counts words, the unit of chunk_size and chunk_overlap. */
export function countWords(text: string): number {
  return text.match(wordPattern)?.length ?? 0;
}

/** Positions of the words in a text. */
export function wordSpans(text: string): WordSpan[] {
  return [...text.matchAll(wordPattern)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** The smallest piece that packing moves: a sentence, a row, a list item, a line of code, or a part of a longer one. */
export interface TextUnit {
  text: string;
  words: number;
  /** Text between the previous unit of the chunk and this one; a blank line between blocks. */
  glue: '' | ' ' | '\n' | '\n\n';
  /** False for a part of a sentence that is too long: the overlap repeats whole sentences only. */
  whole: boolean;
  /** Kind of the block that contains the unit. */
  kind?: DocumentBlock['kind'];
  page?: number;
  pageLabel?: string;
  /** When its block is said, in seconds. */
  time?: TimeSpan;
}

const clauseBorder = /(?<=[,;:])\s+|(?<=[，；：、])\s*|\s+(?=[–—(])/u;

/** Units of a block in order, each of at most `maxWords` words. They contain the whole text of the block. */
export function unitsOf(block: DocumentBlock, maxWords: number): TextUnit[] {
  const units = piecesOf(block, maxWords);
  if (units[0]) units[0].glue = '\n\n';
  const { kind, page, pageLabel, time } = block;
  const place = { ...(page !== undefined && { page }), ...(pageLabel !== undefined && { pageLabel }) };
  return units.map((unit) => ({ ...unit, kind, ...place, ...(time && { time }) }));
}

const isProse = (kind: DocumentBlock['kind']) => kind === 'paragraph' || kind === 'note' || kind === 'figure';

function piecesOf(block: DocumentBlock, maxWords: number): TextUnit[] {
  const { kind, text } = block;
  if (!isProse(kind)) {
    const words = countWords(text);
    if (words <= maxWords) return words === 0 ? [] : [unit(text, '\n', words)];
  }
  if (kind !== 'code') return sentenceUnits(text, maxWords);
  return text.split('\n').flatMap((line) => {
    const units = line.trim() ? withinLimit(line.trimEnd(), maxWords) : [];
    if (units[0]) units[0].glue = '\n';
    return units;
  });
}

function sentenceUnits(text: string, maxWords: number): TextUnit[] {
  let glue: TextUnit['glue'] = '';
  return splitSentences(text).flatMap((sentence) => {
    const units = withinLimit(sentence.trim(), maxWords);
    if (units[0]) units[0].glue = /^\s/.test(sentence) ? ' ' : glue;
    glue = /\s$/.test(sentence) ? ' ' : '';
    return units;
  });
}

/** Returns a sentence as one unit. A longer sentence is cut between clauses, and a longer clause between words. */
function withinLimit(sentence: string, maxWords: number): TextUnit[] {
  if (!sentence) return [];
  const words = countWords(sentence);
  if (words <= maxWords) return [unit(sentence, '', words)];
  const units: TextUnit[] = [];
  for (const piece of clauses(sentence, maxWords)) {
    const before = units.at(-1);
    if (before && before.words + piece.words <= maxWords) {
      before.text += piece.glue + piece.text;
      before.words += piece.words;
    } else units.push(piece);
  }
  return units;
}

function clauses(sentence: string, maxWords: number): TextUnit[] {
  let end = 0;
  return sentence.split(clauseBorder).flatMap((clause) => {
    const start = sentence.indexOf(clause, end);
    const glue = start > end ? ' ' : '';
    end = start + clause.length;
    const units = cutAtWords(clause, maxWords);
    if (units[0]) units[0].glue = glue;
    return units;
  });
}

function cutAtWords(text: string, maxWords: number): TextUnit[] {
  const spans = wordSpans(text);
  const units: TextUnit[] = [];
  for (let first = 0; first < spans.length; first += maxWords) {
    const last = Math.min(first + maxWords, spans.length) - 1;
    const start = spans[first]?.start ?? 0;
    const glue = /\s/.test(text.slice(spans[first - 1]?.end ?? start, start)) ? ' ' : '';
    units.push({ text: text.slice(start, spans[last]?.end), words: last - first + 1, glue, whole: false });
  }
  return units;
}

function unit(text: string, glue: TextUnit['glue'], words: number): TextUnit {
  return { text, words, glue, whole: true };
}
