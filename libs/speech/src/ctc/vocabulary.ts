import { z } from 'zod';
import { readJson } from '#models';
import type { AlignedUnit } from './search.js';

/** A word with its units. */
export interface AlignedWord {
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
