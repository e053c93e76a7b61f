import type { TokenVocabulary } from '#models';

export interface TimedToken {
  readonly token: number;
  /** Seconds. */
  readonly start: number;
  readonly end: number;
}

export interface TimedWord {
  word: string;
  start: number;
  end: number;
}

/** Languages that are written without spaces: each character is a word there. */
const unspaced = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue']);

/** Joins tokens to words: a space begins one, and characters whose bytes are spread over tokens stay whole. */
export function wordsOf(
  tokens: readonly TimedToken[],
  vocabulary: TokenVocabulary,
  language: string | undefined,
): TimedWord[] {
  const words: TimedWord[] = [];
  // A space of its own, or at the end of a token, begins the word that follows.
  let space: number | undefined;
  for (const { text, start, end } of wholeCharacters(tokens, vocabulary)) {
    const letters = text.trim();
    const isUnspaced = unspaced.has(language ?? '') && /[\p{L}\p{N}]/u.test(text);
    const last = words.at(-1);
    if (letters && last && space === undefined && !/^\s/.test(text) && !isUnspaced) {
      last.word += letters;
      last.end = end;
    } else if (letters) words.push({ word: letters, start: space ?? start, end });
    if (!letters) space ??= start;
    else space = /\s$/.test(text) ? end : undefined;
  }
  return words.map(({ word, start, end }) => ({ word, start: round(start), end: round(end) }));
}

function* wholeCharacters(tokens: readonly TimedToken[], vocabulary: TokenVocabulary) {
  const decoder = new TextDecoder();
  let start: number | undefined;
  for (const { token, start: from, end } of tokens) {
    start ??= from;
    const text = decoder.decode(vocabulary.bytesOf(token), { stream: true });
    if (!text) continue;
    yield { text, start, end };
    start = undefined;
  }
  const rest = decoder.decode();
  if (rest) yield { text: rest, start: start ?? 0, end: tokens.at(-1)?.end ?? 0 };
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
