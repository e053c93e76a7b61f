import type { HeardWindow } from './whisper-sequence.js';

/** A stretch of speech with tokens of text, in seconds of its window. */
export interface WindowSegment {
  readonly start: number;
  readonly end: number;
  /** Places of the segment's text tokens among those of the window. */
  readonly places: readonly number[];
}

/** The segments of a window, and where its audio is to be heard on. */
export interface SplitWindow {
  readonly segments: readonly WindowSegment[];
  /** Seconds that are written down. */
  readonly heard: number;
}

/** Seconds between two timestamps. */
export const timestampStep = 0.02;

/**
 * Cuts what was heard at the timestamps, as the reference does: a pair of timestamps ends a segment and begins the next.
 * Where text follows the last pair without an end, the audio is heard again from there; otherwise the window is done.
 * `seconds`: of audio in the window.
 */
export function splitWindow(
  { tokens }: Pick<HeardWindow, 'tokens'>,
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
  const heard = cuts.length > 0 && endsOpen ? timeAt(cuts.at(-1)! - 1) : seconds;
  return { segments, heard };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
