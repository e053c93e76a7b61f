import { z } from 'zod';
import { readJson } from '#models';
import type { AlignedUnit } from './align-units.js';

/** A word with the units that it was made of. */
export interface AlignedWord {
  text: string;
  units: AlignedUnit[];
}

/**
 * The units of a CTC model and how they become words: `▁` at the beginning of a unit begins a word (SentencePiece), or
 * a unit of its own, `|`, stands between words (wav2vec 2.0).
 */
export class CtcVocabulary {
  private readonly texts: string[];

  constructor(units: Readonly<Record<string, number>>) {
    this.texts = [];
    for (const [text, id] of Object.entries(units)) this.texts[id] = text;
  }

  /** Reads `vocab.json`: unit to id. Throws ModelLoadError. */
  static async read(directory: string): Promise<CtcVocabulary> {
    return new CtcVocabulary(await readJson(directory, 'vocab.json', z.record(z.string(), z.int().min(0))));
  }

  get size(): number {
    return this.texts.length;
  }

  /** The text of a unit as it is written: a leading `▁`, and `|`, as a space; marks like `<s>` as nothing. */
  textOf(unit: number): string {
    const text = this.texts[unit] ?? '';
    if (text === '|') return ' ';
    if (/^(<.*>|\[.*\])$/.test(text)) return '';
    return text.replace(/^▁/, ' ');
  }

  /** Words of aligned units, in order. */
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
