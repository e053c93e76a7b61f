import type { TranscriptSegment } from '#platform/contracts';
import { readJson } from '#engine/models';
import { z } from 'zod';
import type { AlignedUnit } from './search.js';

/** A word with its units. */
interface AlignedWord {
  text: string;
  units: AlignedUnit[];
}

/**
 * The units of a CTC model and how they form words: a leading `▁` begins a word (SentencePiece), or the unit `|`
 * separates words (wav2vec 2.0).
 */
export class CtcVocabulary {
  private readonly texts: string[];

  constructor(units: Readonly<Record<string, number>>) {
    this.texts = [];
    for (const [text, id] of Object.entries(units)) this.texts[id] = text;
  }

  /** Reads `vocab.json`: unit to id. Errors: ModelLoadError. */
  static async read(directory: string): Promise<CtcVocabulary> {
    return new CtcVocabulary(await readJson(directory, 'vocab.json', z.record(z.string(), z.int().min(0))));
  }

  get size(): number {
    return this.texts.length;
  }

  /** The text of a unit: a leading `▁`, and `|`, become a space; special tokens like `<s>` become empty. */
  textOf(unit: number): string {
    const text = this.texts[unit] ?? '';
    if (text === '|') return ' ';
    if (/^(<.*>|\[.*\])$/.test(text)) return '';
    return text.replace(/^▁/, ' ');
  }

  /** Returns the words of aligned units, in order. */
  wordsOf(units: readonly AlignedUnit[]): AlignedWord[] {
    const words: AlignedWord[] = [];
    let begins = true;
    for (const unit of units) {
      const text = this.textOf(unit.unit);
      begins ||= text.startsWith(' ');
      const letters = text.trim();
      if (!letters) continue;
      const word = words.at(-1);
      if (begins || !word) words.push({ text: letters, units: [unit] });
      else {
        word.text += letters;
        word.units.push(unit);
      }
      begins = false;
    }
    return words;
  }
}

/** Position of a segment in the audio. */
interface SegmentPlace {
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

/** Describes the transcript of a span; it begins with its first word and ends with its last word. */
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
