import type { EncodedSequence } from './encoder-pool.js';
import { remember } from '#platform/foundation';

/** A word of the reader's input: its token ids, its stem for comparisons, and its shape. */
export interface ReaderWord {
  readonly ids: readonly number[];
  /** Equal for words that match; absent for stop words and punctuation. */
  readonly stem?: string;
  readonly shape: 'plain' | 'capitalized' | 'number';
}

const stopWords = new Set(
  (
    'a an the of in on at to for by with and or is was are were be been do does did what which who whom whose when where ' +
    'why how many much that this it its as from have has had not s name type kind'
  ).split(' '),
);
const numberWords = new Set(
  (
    'january february march april june july august september october november december one two three four five six seven ' +
    'eight nine ten eleven twelve hundred thousand million billion dozen half third twice'
  ).split(' '),
);
const wordPattern = /[\p{L}\p{N}]+|[^\p{L}\p{N}\s]/gu;

/** Maximum number of distinct words in a cache. */
const maxCachedWords = 50_000;

/** Splits a text into words and punctuation marks. */
export function splitWords(text: string): string[] {
  return text.match(wordPattern) ?? [];
}

/** Normalizes a word like the model's tokenizer: lower case, without accents. */
function fold(word: string): string {
  return word
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
}

/**
 * Returns the stem of a word, at most seven letters; undefined for stop words. The reader was trained with this
 * function, so it is part of the model.
 */
export function stemOf(word: string): string | undefined {
  if (word.length > maxCachedLetters) return computeStem(word);
  let stem = stems.get(word);
  if (stem === undefined) {
    if (stems.size >= maxCachedWords) stems.clear();
    stem = computeStem(word) ?? '';
    stems.set(word, stem);
  }
  return stem === '' ? undefined : stem;
}
/** A part of a text that is longer than this would keep the whole text in memory. */
const maxCachedLetters = 12;
/** Stems of words, empty for stop words. */
const stems = new Map<string, string>();

function computeStem(word: string): string | undefined {
  const folded = fold(word);
  if (!/^[\p{L}\p{N}]/u.test(folded) || stopWords.has(folded)) return undefined;
  const cut = folded.length > 4 ? folded.replace(/(?:ing|ed|es|s|ly|ions|ion|ers|er|ment|al)$/, '') : folded;
  return cut.replace(/(.)\1$/u, '$1').slice(0, 7);
}

/** Returns the pairs of neighbors among stems, each once. */
export function pairsOf(stems: readonly string[]): Set<string> {
  return new Set(stems.slice(1).map((stem, index) => `${stems[index]} ${stem}`));
}

/** Returns the shape of a word, which distinguishes names and numbers from other words. */
function wordShape(word: string): ReaderWord['shape'] {
  if (/\p{Nd}/u.test(word) || numberWords.has(fold(word))) return 'number';
  return /^\p{Lu}/u.test(word) ? 'capitalized' : 'plain';
}

/** A candidate sentence with its context. */
export interface ReadSentence {
  readonly text: string;
  /** The sentences before and after it; empty at the ends of a passage. */
  readonly before: string;
  readonly after: string;
  /** The whole passage with its headings. */
  readonly passage: string;
}

/** Token types of the model: they encode which words of the question match. */
const kinds = {
  question: { nowhere: 0, sentence: 1, neighbors: 2, passage: 3, stop: 4 },
  sentence: { new: 5, match: 6, stop: 7, capitalized: 8, number: 9 },
  before: { new: 10, match: 11, stop: 12 },
  after: { new: 13, match: 14, stop: 15 },
  mark: 16,
} as const;

/** Maximum tokens of each part, as in training. */
const maxPartTokens = { question: 36, sentence: 80, before: 30, after: 18 };
const marks = { start: 2, end: 3 };

/** Special tokens of a sequence: one at the start, one after each part. */
export const readerMarks = 5;

/** Numbers of tokens of a query and of a passage that are kept. */
export interface KeptTokens {
  readonly query: number;
  readonly passage: number;
}

/** The tokens of a text, each with its word. */
interface CodedText {
  readonly ids: readonly number[];
  readonly words: readonly ReaderWord[];
  readonly stems: ReadonlySet<string>;
}

/**
 * Encodes the reader's input: `[CLS] question [SEP] before [SEP] sentence [SEP] after [SEP]` with a token type per
 * token.
 */
export class ReaderTokens {
  readonly #words = new Map<string, ReaderWord>();

  /** @param pieces Returns the token ids of a word. */
  constructor(private readonly pieces: (word: string) => number[]) {}

  encode(question: string, sentences: readonly ReadSentence[]): EncodedSequence[] {
    const code = remember((text: string) => this.#code(text));
    const stems = remember(stemSet);
    const questionPart = slice(code(question), 0, maxPartTokens.question);
    return sentences.map(({ text, before, after, passage }) =>
      layOut({
        question: questionPart,
        sentence: slice(code(text), 0, maxPartTokens.sentence),
        before: slice(code(before), -maxPartTokens.before),
        after: slice(code(after), 0, maxPartTokens.after),
        passage: stems(passage),
      }),
    );
  }

  /**
   * Encodes a query and a passage, as a question and a sentence without context. `room` returns how many of their
   * tokens remain.
   */
  encodePair(
    query: string,
    passage: string,
    room: (query: number, passage: number) => KeptTokens,
  ): EncodedSequence {
    const question = this.#code(query);
    const sentence = this.#code(passage);
    const kept = room(question.ids.length, sentence.ids.length);
    return layOut({
      question: slice(question, 0, kept.query),
      sentence: slice(sentence, 0, kept.passage),
      before: noText,
      after: noText,
      passage: noText.stems,
    });
  }

  #code(text: string): CodedText {
    const ids: number[] = [];
    const words: ReaderWord[] = [];
    for (const [index, part] of splitWords(text).entries()) {
      const word = this.#word(part, index === 0);
      for (const id of word.ids) {
        ids.push(id);
        words.push(word);
      }
    }
    return coded(ids, words);
  }

  /** The first word of a text is always capitalized, so its capital has no meaning. */
  #word(word: string, isFirst: boolean): ReaderWord {
    let known = this.#words.get(word);
    if (!known) {
      if (this.#words.size >= maxCachedWords) this.#words.clear();
      known = { ids: this.pieces(word), stem: stemOf(word), shape: wordShape(word) };
      this.#words.set(word, known);
    }
    return isFirst && known.shape === 'capitalized' ? { ...known, shape: 'plain' } : known;
  }
}

function coded(ids: readonly number[], words: readonly ReaderWord[]): CodedText {
  const stems = new Set<string>();
  for (const { stem } of words) if (stem !== undefined) stems.add(stem);
  return { ids, words, stems };
}

function slice(text: CodedText, from: number, to?: number): CodedText {
  const { ids, words } = text;
  if (Math.abs(to ?? from) >= ids.length) return text;
  return coded(ids.slice(from, to), words.slice(from, to));
}

/** The stems of a text's words, without stop words. */
export function stemSet(text: string): ReadonlySet<string> {
  return new Set(splitWords(text).flatMap((word) => stemOf(word) ?? []));
}

const noText = coded([], []);

interface Parts {
  question: CodedText;
  sentence: CodedText;
  before: CodedText;
  after: CodedText;
  passage: ReadonlySet<string>;
}

function layOut({ question, sentence, before, after, passage }: Parts): EncodedSequence {
  const inQuestion = (stem: string) => question.stems.has(stem);
  const place = (stem: string) => {
    if (sentence.stems.has(stem)) return kinds.question.sentence;
    if (before.stems.has(stem) || after.stems.has(stem)) return kinds.question.neighbors;
    return passage.has(stem) ? kinds.question.passage : kinds.question.nowhere;
  };
  const neighborKind =
    (own: { new: number; match: number; stop: number }) =>
    ({ stem }: ReaderWord) =>
      stem === undefined ? own.stop : inQuestion(stem) ? own.match : own.new;
  const sentenceKind = ({ stem, shape }: ReaderWord) => {
    if (stem === undefined) return kinds.sentence.stop;
    if (inQuestion(stem)) return kinds.sentence.match;
    return shape === 'plain' ? kinds.sentence.new : kinds.sentence[shape];
  };
  const parts = [question.ids, before.ids, sentence.ids, after.ids];
  const partKinds = [
    question.words.map(({ stem }) => (stem === undefined ? kinds.question.stop : place(stem))),
    before.words.map(neighborKind(kinds.before)),
    sentence.words.map(sentenceKind),
    after.words.map(neighborKind(kinds.after)),
  ];
  return {
    ids: [marks.start, ...parts.flatMap((ids) => [...ids, marks.end])],
    segments: [kinds.question.stop, ...partKinds.flatMap((part) => [...part, kinds.mark])],
  };
}
