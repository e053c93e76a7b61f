import type { EncodedSequence } from '#models';
import { splitWords, stemOf, writingOf, type ReaderWord } from './reader-words.js';

/** A sentence that may answer, in its surroundings. */
export interface ReadSentence {
  readonly text: string;
  /** The sentences beside it; empty where there are none. */
  readonly before: string;
  readonly after: string;
  /** The whole passage, and its headings. */
  readonly passage: string;
}

/** Rows of the model's token type embedding: which words of the question a token's word matches. */
const kinds = {
  question: { nowhere: 0, sentence: 1, neighbours: 2, passage: 3, stop: 4 },
  sentence: { new: 5, match: 6, stop: 7, capitalised: 8, number: 9 },
  before: { new: 10, match: 11, stop: 12 },
  after: { new: 13, match: 14, stop: 15 },
  mark: 16,
} as const;

/** Most tokens of each part, as in training. */
const mostTokens = { question: 36, sentence: 80, before: 30, after: 18 };
const marks = { start: 2, end: 3 };
/** Distinct words that are remembered with their pieces. */
const rememberedWords = 50_000;

/** A text as its tokens, each with what is known of its word. */
interface CodedText {
  readonly ids: readonly number[];
  readonly words: readonly ReaderWord[];
  readonly stems: ReadonlySet<string>;
}

/** Writes what the reader reads: `[CLS] question [SEP] before [SEP] sentence [SEP] after [SEP]` with a kind a token. */
export class ReaderTokens {
  readonly #words = new Map<string, ReaderWord>();

  /** @param pieces Ids of the word pieces of a word. */
  constructor(private readonly pieces: (word: string) => number[]) {}

  encode(question: string, sentences: readonly ReadSentence[]): EncodedSequence[] {
    const coded = new Map<string, CodedText>();
    const code = (text: string) => {
      const known = coded.get(text) ?? this.#code(text);
      coded.set(text, known);
      return known;
    };
    const asked = cut(code(question), 0, mostTokens.question);
    return sentences.map(({ text, before, after, passage }) =>
      layOut({
        asked,
        sentence: cut(code(text), 0, mostTokens.sentence),
        before: cut(code(before), -mostTokens.before),
        after: cut(code(after), 0, mostTokens.after),
        passage: code(passage).stems,
      }),
    );
  }

  #code(text: string): CodedText {
    const words = splitWords(text).map((word, index) => this.#word(word, index === 0));
    const ids = words.flatMap((word) => word.ids);
    return coded(
      ids,
      words.flatMap((word) => word.ids.map(() => word)),
    );
  }

  /** The first word of a text is capitalised whatever it is. */
  #word(word: string, isFirst: boolean): ReaderWord {
    let known = this.#words.get(word);
    if (!known) {
      if (this.#words.size >= rememberedWords) this.#words.clear();
      known = { ids: this.pieces(word), stem: stemOf(word), writing: writingOf(word) };
      this.#words.set(word, known);
    }
    return isFirst && known.writing === 'capitalised' ? { ...known, writing: 'plain' } : known;
  }
}

function coded(ids: readonly number[], words: readonly ReaderWord[]): CodedText {
  return { ids, words, stems: new Set(words.flatMap(({ stem }) => stem ?? [])) };
}

function cut({ ids, words }: CodedText, from: number, to?: number): CodedText {
  return coded(ids.slice(from, to), words.slice(from, to));
}

interface Parts {
  asked: CodedText;
  sentence: CodedText;
  before: CodedText;
  after: CodedText;
  passage: ReadonlySet<string>;
}

function layOut({ asked, sentence, before, after, passage }: Parts): EncodedSequence {
  const inQuestion = (stem: string) => asked.stems.has(stem);
  const place = (stem: string) => {
    if (sentence.stems.has(stem)) return kinds.question.sentence;
    if (before.stems.has(stem) || after.stems.has(stem)) return kinds.question.neighbours;
    return passage.has(stem) ? kinds.question.passage : kinds.question.nowhere;
  };
  const neighbour =
    (own: { new: number; match: number; stop: number }) =>
    ({ stem }: ReaderWord) =>
      stem === undefined ? own.stop : inQuestion(stem) ? own.match : own.new;
  const sentenceKind = ({ stem, writing }: ReaderWord) => {
    if (stem === undefined) return kinds.sentence.stop;
    if (inQuestion(stem)) return kinds.sentence.match;
    return writing === 'plain' ? kinds.sentence.new : kinds.sentence[writing];
  };
  const parts = [asked.ids, before.ids, sentence.ids, after.ids];
  const partKinds = [
    asked.words.map(({ stem }) => (stem === undefined ? kinds.question.stop : place(stem))),
    before.words.map(neighbour(kinds.before)),
    sentence.words.map(sentenceKind),
    after.words.map(neighbour(kinds.after)),
  ];
  return {
    ids: [marks.start, ...parts.flatMap((ids) => [...ids, marks.end])],
    segments: [kinds.question.stop, ...partKinds.flatMap((part) => [...part, kinds.mark])],
  };
}
