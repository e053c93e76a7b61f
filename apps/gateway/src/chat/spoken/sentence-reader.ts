import { splitSentences } from '#text';

/** Cuts a text that is still being written into sentences. */
export class SentenceReader {
  #open = '';

  /** The sentences that are complete with this piece: those that another one follows. */
  push(piece: string): string[] {
    const sentences = splitSentences(this.#open + piece);
    this.#open = sentences.pop() ?? '';
    return sentences;
  }

  /** What is left at the end. */
  finish(): string {
    const rest = this.#open;
    this.#open = '';
    return rest;
  }
}

/** What a voice is to read of a sentence: without the numbers of citations and without the marks of Markdown. */
export function spokenForm(sentence: string): string {
  return sentence
    .replaceAll(/\s*\[\d+(?:,\s*\d+)*\]/g, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\s*(?:#{1,6}|>|[-*+]|\d+\.)\s+/gm, '')
    .replaceAll(/`{1,3}|\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)/g, '')
    .trim();
}
