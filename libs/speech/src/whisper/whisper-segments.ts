import type { WindowTranscript } from './whisper-sequence.js';

/** A span of speech with text tokens, in seconds of its window. */
export interface WindowSegment {
  readonly start: number;
  readonly end: number;
  /** Indexes of the segment's text tokens in the window. */
  readonly places: readonly number[];
}

/** The segments of a window, and the time from which the audio is transcribed next. */
export interface SplitWindow {
  readonly segments: readonly WindowSegment[];
  /** Seconds of the window that are transcribed. */
  readonly transcribedSeconds: number;
}

/** Seconds between two timestamps. */
export const timestampStep = 0.02;

/**
 * Splits a transcript at its timestamps, as the reference does: a pair of timestamps ends a segment and begins the
 * next. If text after the last pair is not ended by a timestamp, the audio is transcribed again from that pair;
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
