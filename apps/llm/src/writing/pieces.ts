import { countWords } from '#text';
import { sentencesOf } from '../grounding/sentences.js';

/**
 * Cuts a text at sentence borders into pieces of at most `size` words; a sentence longer than that is cut at words.
 * Each piece begins with the last whole sentences of the one before, `overlap` words of them at most.
 */
export function cutIntoPieces(text: string, size: number, overlap = 0): string[] {
  const units = sentencesOf(text).flatMap((sentence) => cutAtWords(sentence, size));
  const pieces: string[][] = [];
  let open: string[] = [];
  let words = 0;
  for (const unit of units) {
    const length = countWords(unit);
    if (words + length > size && open.length > 0) {
      pieces.push(open);
      open = tailOf(open, Math.min(overlap, size - length));
      words = countWords(open.join(' '));
    }
    open.push(unit);
    words += length;
  }
  if (open.length > 0) pieces.push(open);
  return pieces.map((piece) => piece.join(' '));
}

function cutAtWords(sentence: string, size: number): string[] {
  const words = sentence.match(/\S+/g) ?? [];
  const cuts: string[] = [];
  for (let first = 0; first < words.length; first += size)
    cuts.push(words.slice(first, first + size).join(' '));
  return cuts;
}

function tailOf(sentences: readonly string[], words: number): string[] {
  const tail: string[] = [];
  let left = words;
  for (const sentence of sentences.toReversed()) {
    left -= countWords(sentence);
    if (left < 0) break;
    tail.unshift(sentence);
  }
  return tail;
}
