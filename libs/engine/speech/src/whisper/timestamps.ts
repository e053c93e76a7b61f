import type { TokenVocabulary } from '#engine/models';
import type { WindowTranscript } from './whisper-sequence.js';

/** A span of speech with text tokens, in seconds of its window. */
export interface WindowSegment {
  readonly start: number;
  readonly end: number;
  /** Indexes of the segment's text tokens in the window. */
  readonly places: readonly number[];
}

/** The segments of a window, and the time from which the audio is transcribed next. */
interface SplitWindow {
  readonly segments: readonly WindowSegment[];
  /** Seconds of the window that are transcribed. */
  readonly transcribedSeconds: number;
}

/** Seconds between two timestamps. */
const timestampStep = 0.02;

/**
 * Splits a transcript at its timestamps, as the reference does: a pair of timestamps ends a segment and begins the
 * next. If the text after the last pair does not end with a timestamp, the audio is transcribed again from that pair;
 * otherwise the window is complete. `seconds`: length of the window.
 */
export function splitWindow(
  { tokens }: Pick<WindowTranscript, 'tokens'>,
  firstTimestamp: number,
  seconds: number,
): SplitWindow {
  const isTime = (place: number) => (tokens[place] ?? -1) >= firstTimestamp;
  const timeAt = (place: number) => Math.min(seconds, (tokens[place]! - firstTimestamp) * timestampStep);
  const cuts = tokens.flatMap((_, place) => (isTime(place) && isTime(place - 1) ? [place] : []));
  const endsOpen = !(isTime(tokens.length - 1) && !isTime(tokens.length - 2));
  const borders = [0, ...cuts, ...(cuts.length > 0 && endsOpen ? [] : [tokens.length])];
  const segments = borders.slice(1).flatMap((to, index) => {
    const from = borders[index]!;
    const places = range(from, to).filter((place) => !isTime(place));
    if (places.length === 0) return [];
    const start = isTime(from) ? timeAt(from) : 0;
    const end = isTime(to - 1) && to - 1 > from ? timeAt(to - 1) : seconds;
    return [{ start, end: Math.max(start, end), places }];
  });
  const transcribedSeconds = cuts.length > 0 && endsOpen ? timeAt(cuts.at(-1)! - 1) : seconds;
  return { segments, transcribedSeconds };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}

/** A token with its time. */
interface TimedToken {
  readonly token: number;
  /** In seconds. */
  readonly start: number;
  readonly end: number;
}

/** A word with its time, in seconds. */
interface TimedWord {
  word: string;
  start: number;
  end: number;
}

/** Languages written without spaces: each character counts as a word. */
const unspaced = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue']);

/** Joins tokens to words: a space begins a word, and characters whose bytes span several tokens stay whole. */
export function wordsOf(
  tokens: readonly TimedToken[],
  vocabulary: TokenVocabulary,
  language: string | undefined,
): TimedWord[] {
  const words: TimedWord[] = [];
  // A separate space, or one at the end of a token, begins the next word.
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

/** Rounds to milliseconds. */
export function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** Width of the median filter over time (Radford et al. use 7). */
const medianWidth = 7;

/**
 * Computes the start of each token of a window, in seconds: the attention of the alignment heads is normalized,
 * smoothed and averaged, then dynamic time warping finds the cheapest monotonic path through tokens and time.
 * `rows`: per token heads × source positions; `positions`: positions with audio. Returns one time per row.
 */
export function tokenTimes(rows: readonly Float32Array[], source: number, positions: number): number[] {
  if (rows.length === 0) return [];
  const used = Math.max(1, Math.min(source, positions));
  const cost = new Float64Array(rows.length * used);
  const heads = rows[0]!.length / source;
  for (let head = 0; head < heads; head++) addHead(cost, rows, { offset: head * source, used });
  return pathStarts(cost, rows.length, used).map((position) => position * timestampStep);
}

/**
 * Subtracts a head's attention from the cost, after scaling each position to mean 0 and deviation 1 over the tokens
 * and smoothing.
 */
function addHead(
  cost: Float64Array,
  rows: readonly Float32Array[],
  { offset, used }: { offset: number; used: number },
): void {
  const means = new Float64Array(used);
  const deviations = new Float64Array(used);
  for (let position = 0; position < used; position++) {
    let sum = 0;
    let squares = 0;
    for (const row of rows) sum += row[offset + position]!;
    const mean = sum / rows.length;
    for (const row of rows) squares += (row[offset + position]! - mean) ** 2;
    means[position] = mean;
    deviations[position] = Math.sqrt(squares / rows.length) || 1;
  }
  for (const [token, row] of rows.entries()) {
    const values = means.map((mean, position) => (row[offset + position]! - mean) / deviations[position]!);
    for (const [position, value] of smoothed(values).entries()) cost[token * used + position]! -= value;
  }
}

/** Running median; values are mirrored beyond the ends. */
function smoothed(values: Float64Array): Float64Array {
  const half = (medianWidth - 1) / 2;
  const { length } = values;
  if (length <= half) return values;
  const at = (index: number) =>
    values[index < 0 ? -index : index >= length ? 2 * length - 2 - index : index]!;
  const window = new Float64Array(medianWidth);
  return values.map((_, center) => {
    for (let offset = -half; offset <= half; offset++) window[offset + half] = at(center + offset);
    return window.sort()[half]!;
  });
}

/**
 * Returns the first column of each row on the cheapest path from corner to corner with steps right, down or both.
 */
function pathStarts(cost: Float64Array, rows: number, columns: number): number[] {
  const width = columns + 1;
  const total = new Float64Array((rows + 1) * width).fill(Infinity);
  total[0] = 0;
  // Step of the best path: 0 both, 1 down, 2 right.
  const way = new Uint8Array(total.length);
  for (let row = 1; row <= rows; row++)
    for (let column = 1; column <= columns; column++) {
      const at = row * width + column;
      const options = [total[at - width - 1]!, total[at - width]!, total[at - 1]!] as const;
      const best = options[0] < options[1] && options[0] < options[2] ? 0 : options[1] < options[2] ? 1 : 2;
      way[at] = best;
      total[at] = cost[(row - 1) * columns + column - 1]! + options[best];
    }
  const starts: number[] = Array<number>(rows).fill(0);
  for (let row = rows, column = columns; row > 0 && column > 0;) {
    starts[row - 1] = column - 1;
    const step = way[row * width + column];
    if (step !== 2) row -= 1;
    if (step !== 1) column -= 1;
  }
  return starts;
}
