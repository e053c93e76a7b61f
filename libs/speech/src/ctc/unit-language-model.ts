import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readOptionalJson, ModelLoadError } from '#models';
import type { LanguageModelScores } from './search.js';

const configSchema = z.looseObject({
  language_model: z
    .object({
      file: z.string().regex(/^[\w.-]+$/),
      weight: z.number().min(0).describe('Factor of its logarithms'),
      unit_bonus: z.number().describe('Added for each unit; long texts are not put at a disadvantage'),
    })
    .optional(),
});

const headerBytes = 16;
/** Log probabilities are stored in sixteenths. */
const stepsPerUnit = 16;
/** Log probability of a unit that is not in the table. */
const unknown = -16;
/** The unit for the start and the end of a text: CTC's blank, which does not occur in texts. */
const textBorder = 0;

/**
 * An n-gram model over the units of a CTC model: it knows the spelling of words and their order.
 *
 * The file, little endian: `NLM1`, uint32 order, uint32 entries, uint32 0; the entries' keys (uint32, ascending);
 * their probabilities, then the back-off weights of the n-grams they begin (uint8: minus the natural logarithm in
 * sixteenths).
 *
 * The key of an n-gram is a hash of its units, oldest first (see {@link keyOf}). Unit 0, the blank, is the start
 * and the end of a text. log p(unit | history) is the entry of the last order − 1 units of the history and the
 * unit. If it is missing, the value is the back-off weight of that history (0 if it is missing) plus log p with the
 * oldest unit removed.
 */
export class UnitLanguageModel {
  private constructor(
    private readonly order: number,
    private readonly keys: Uint32Array,
    private readonly probabilities: Uint8Array,
    private readonly backOff: Uint8Array,
  ) {}

  /** Reads a table. Errors: ModelLoadError if the bytes are not such a table. */
  static from(bytes: Uint8Array, name: string): UnitLanguageModel {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const isTable =
      bytes.length >= headerBytes && Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'NLM1';
    const [order, count] = isTable ? [view.getUint32(4, true), view.getUint32(8, true)] : [0, 0];
    if (order < 1 || bytes.length !== headerBytes + 6 * count)
      throw new ModelLoadError(`${name} is not an n-gram table.`);
    const behindKeys = headerBytes + 4 * count;
    const keys = Uint32Array.from({ length: count }, (_, index) =>
      view.getUint32(headerBytes + 4 * index, true),
    );
    return new UnitLanguageModel(
      order,
      keys,
      bytes.subarray(behindKeys, behindKeys + count),
      bytes.subarray(behindKeys + count),
    );
  }

  /** Returns log p(next | units); `units` is a text from its start. */
  score(units: readonly number[], next: number): number {
    const before = this.order - 1;
    const recent = units.slice(Math.max(0, units.length - before));
    return this.scoreAfter(recent.length < before ? [textBorder, ...recent] : recent, next);
  }

  private scoreAfter(history: readonly number[], next: number): number {
    const entry = this.find([...history, next]);
    if (entry >= 0) return -this.probabilities[entry]! / stepsPerUnit;
    if (history.length === 0) return unknown;
    const begun = this.find(history);
    const weight = begun >= 0 ? -this.backOff[begun]! / stepsPerUnit : 0;
    return weight + this.scoreAfter(history.slice(1), next);
  }

  /** Index of an n-gram in the table, or −1. */
  private find(units: readonly number[]): number {
    const key = keyOf(units);
    let [low, high] = [0, this.keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return this.keys[low] === key ? low : -1;
  }
}

/** The 32-bit hash of an n-gram. */
export function keyOf(units: readonly number[]): number {
  let hash = 0x9e_37_79_b1;
  for (const unit of units) {
    hash = Math.imul(hash ^ (unit + 1), 0x85_eb_ca_6b);
    hash ^= hash >>> 13;
  }
  return hash >>> 0;
}

/**
 * Loads the language model under `language_model` in the model's config.json, with its weights; undefined if there
 * is not any. Errors: ModelLoadError.
 */
export async function readLanguageModel(directory: string): Promise<LanguageModelScores | undefined> {
  const config = await readOptionalJson(directory, 'config.json', configSchema);
  if (!config?.language_model) return undefined;
  const { file, weight, unit_bonus: bonus } = config.language_model;
  const path = join(directory, file);
  if (!existsSync(path)) throw new ModelLoadError(`${path}, named in config.json, does not exist.`);
  const model = UnitLanguageModel.from(await readFile(path), path);
  return {
    next: (units, next) => weight * model.score(units, next) + bonus,
    end: (units) => weight * model.score(units, textBorder),
  };
}
