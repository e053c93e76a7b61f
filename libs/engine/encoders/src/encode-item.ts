import type { TextTokenizer } from '#engine/models';
import type { EncodedSequence, EncoderItem, EncoderOutcome } from './encoder-pool.js';
import { readerMarks, type KeptTokens, type ReaderTokens } from './reader-tokens.js';
import { windowStarts } from './text-pieces.js';

/**
 * The marks that a model expects around one text and around two, e.g. `[CLS] a [SEP]` and `[CLS] a [SEP] b [SEP]`. They
 * are read from the tokenizer once, so that texts can be truncated before the marks are added.
 */
export class SequenceTemplate {
  private constructor(
    private readonly single: { before: readonly number[]; after: readonly number[] },
    private readonly pair: {
      before: readonly number[];
      between: readonly number[];
      after: readonly number[];
      betweenSegments: readonly number[];
      secondSegment: number;
    },
  ) {}

  static from(tokenizer: TextTokenizer): SequenceTemplate {
    const first = tokenizer.encode('a');
    const second = tokenizer.encode('b');
    const single = tokenizer.encodeMarked('a');
    const start = indexOfRun(single, first, 0);
    const { ids, segments } = tokenizer.encodePair('a', 'b');
    const firstAt = indexOfRun(ids, first, 0);
    const firstEnd = firstAt + first.length;
    const secondAt = indexOfRun(ids, second, firstEnd);
    const secondEnd = secondAt + second.length;
    return new SequenceTemplate(
      { before: single.slice(0, start), after: single.slice(start + first.length) },
      {
        before: ids.slice(0, firstAt),
        between: ids.slice(firstEnd, secondAt),
        after: ids.slice(secondEnd),
        betweenSegments: segments.slice(firstEnd, secondAt),
        secondSegment: segments[secondAt] ?? 0,
      },
    );
  }

  get singleMarks(): number {
    return this.single.before.length + this.single.after.length;
  }

  get pairMarks(): number {
    return this.pair.before.length + this.pair.between.length + this.pair.after.length;
  }

  /** Adds the marks around one text; ids with marks stay as they are. */
  wrap(ids: readonly number[]): EncodedSequence {
    const { before, after } = this.single;
    const marked = before.length > 0 && before.every((id, index) => ids[index] === id);
    const all = marked ? ids : [...before, ...ids, ...after];
    return { ids: all, segments: all.map(() => 0) };
  }

  wrapPair(first: readonly number[], second: readonly number[]): EncodedSequence {
    const { before, between, after, betweenSegments, secondSegment } = this.pair;
    return {
      ids: [...before, ...first, ...between, ...second, ...after],
      segments: [
        ...before.map(() => 0),
        ...first.map(() => 0),
        ...betweenSegments,
        ...second.map(() => secondSegment),
        ...after.map(() => secondSegment),
      ],
    };
  }
}

function indexOfRun(ids: readonly number[], run: readonly number[], from: number): number {
  for (let start = from; start + run.length <= ids.length; start++) {
    if (run.every((id, offset) => ids[start + offset] === id)) return start;
  }
  return from;
}

/** The conversion of a model's texts to tokens. */
export interface ItemCoding {
  readonly tokenizer: TextTokenizer;
  readonly template: SequenceTemplate;
  /** Texts become lower case first. */
  readonly lowercases?: boolean;
  /** For models whose token types mark the words of a pair that match. */
  readonly matches?: ReaderTokens;
}

/** Limits of a model's input. */
interface EncodingLimits {
  readonly maxInputTokens: number;
  readonly vocabularySize: number;
}

/** Overlap of neighboring windows, as a share of the tokens of a window. */
const windowOverlap = 0.25;

/**
 * Encodes an item as token sequences: truncated or split into windows if the request allows it. Otherwise returns
 * the reason for refusing the item.
 */
export function encodeItem(
  item: EncoderItem,
  coding: ItemCoding,
  limits: EncodingLimits,
): readonly EncodedSequence[] | Exclude<EncoderOutcome, { tokens: number }> {
  if ('sequence' in item) return encodedSequence(item.sequence, limits);
  if ('query' in item) return encodePair(item, coding, limits);
  const { template } = coding;
  const room = limits.maxInputTokens - template.singleMarks;
  const ids = 'ids' in item ? item.ids : encodeText(item.text, coding);
  const unknownToken = ids.find((id) => id >= limits.vocabularySize);
  if (unknownToken !== undefined) return { unknownToken };
  const wrapped = template.wrap(ids);
  if (wrapped.ids.length <= limits.maxInputTokens) return [wrapped];
  if ('inWindows' in item) return windowsOf(ids, room).map((window) => template.wrap(window));
  if (!item.truncate) return { tooLong: wrapped.ids.length };
  return [template.wrap(ids.slice(0, room))];
}

function encodeText(text: string, { tokenizer, lowercases }: ItemCoding): number[] {
  return tokenizer.encode(lowercases ? text.toLowerCase() : text);
}

function encodedSequence(
  sequence: EncodedSequence,
  { maxInputTokens }: EncodingLimits,
): readonly EncodedSequence[] | { tooLong: number } {
  const tokens = sequence.ids.length;
  return tokens > maxInputTokens ? { tooLong: tokens } : [sequence];
}

function windowsOf(ids: readonly number[], room: number): number[][] {
  const starts = windowStarts(ids.length, room, Math.floor(room * windowOverlap));
  return starts.map((start) => ids.slice(start, start + room));
}

type PairItem = Extract<EncoderItem, { query: string }>;

function encodePair(
  item: PairItem,
  coding: ItemCoding,
  limits: EncodingLimits,
): readonly EncodedSequence[] | { tooLong: number } {
  const { maxInputTokens } = limits;
  const { ids, segments } = coding.matches
    ? encodeMatches(item, coding.matches, maxInputTokens)
    : encodePlainPair(item, coding, maxInputTokens);
  return ids.length > maxInputTokens ? { tooLong: ids.length } : [{ ids, segments }];
}

function encodeMatches(
  { query, passage, truncate }: PairItem,
  matches: ReaderTokens,
  maxInputTokens: number,
): EncodedSequence {
  const room = truncate ? maxInputTokens - readerMarks : Infinity;
  return matches.encodePair(query, passage, (...counts) => keptTokens(...counts, room));
}

function encodePlainPair(
  { query, passage, truncate }: PairItem,
  coding: ItemCoding,
  maxInputTokens: number,
): EncodedSequence {
  const { template } = coding;
  const room = truncate ? maxInputTokens - template.pairMarks : Infinity;
  const passageIds = encodeText(passage, coding);
  const queryIds = encodeText(query, coding);
  const kept = keptTokens(queryIds.length, passageIds.length, room);
  return template.wrapPair(queryIds.slice(0, kept.query), passageIds.slice(0, kept.passage));
}

/** Truncates the passage first; the query keeps at most half of the tokens, so that part of the passage remains. */
function keptTokens(query: number, passage: number, room: number): KeptTokens {
  const queryKept = Math.min(query, Math.max(Math.floor(room / 2), room - passage));
  return { query: queryKept, passage: Math.min(passage, room - queryKept) };
}
