import type { TranscriptSegment } from '#contracts';
import type { AlignedUnit } from './search.js';
import type { CtcVocabulary } from './vocabulary.js';

/** Position of a segment in the audio. */
export interface SegmentPlace {
  id: number;
  /** In seconds of the audio. */
  start: number;
  end: number;
  /** Time of the first step in seconds; it may be before `start`. */
  firstStep: number;
  secondsPerStep: number;
  /** Include words and probabilities. */
  details: boolean;
}

/** Describes the transcript of a span; its times are those of its first and last word. */
export function describeSegment(
  vocabulary: CtcVocabulary,
  units: readonly AlignedUnit[],
  { id, start, end, firstStep, secondsPerStep, details }: SegmentPlace,
): TranscriptSegment {
  const at = (step: number) => Math.max(start, Math.min(end, firstStep + step * secondsPerStep));
  const words = vocabulary.wordsOf(units).map(({ text, units: parts }) => ({
    word: text,
    start: round(at(parts[0]!.start)),
    end: round(at(parts.at(-1)!.end)),
  }));
  const sum = units.reduce((total, { logProbability }) => total + logProbability, 0);
  return {
    id,
    start: words[0]?.start ?? round(start),
    end: words.at(-1)?.end ?? round(end),
    text: words.map(({ word }) => word).join(' '),
    tokens: units.map(({ unit }) => unit),
    avgLogprob: units.length > 0 ? sum / units.length : 0,
    temperature: 0,
    ...(details && {
      words,
      logprobs: units.map(({ unit, logProbability }, index) => ({
        token: index === 0 && id === 0 ? vocabulary.textOf(unit).trimStart() : vocabulary.textOf(unit),
        logprob: logProbability,
      })),
    }),
  };
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
