import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readOptionalJson, ModelLoadError } from '#engine/models';
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
  /** Index of the first key of each value of the keys' upper 16 bits: hashes are spread evenly, so few share one. */
  private readonly firsts: Uint32Array;

  private constructor(
    private readonly order: number,
    private readonly keys: Uint32Array,
    private readonly probabilities: Uint8Array,
    private readonly backOff: Uint8Array,
  ) {
    this.firsts = new Uint32Array((1 << 16) + 1);
    for (const key of keys) this.firsts[(key >>> 16) + 1]! += 1;
    for (let index = 1; index < this.firsts.length; index += 1)
      this.firsts[index]! += this.firsts[index - 1]!;
  }

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
    const history = recent.length < before ? [textBorder, ...recent] : recent;
    let weight = 0;
    for (let oldest = 0; oldest <= history.length; oldest += 1) {
      const hash = hashOf(history, oldest);
      const entry = this.find(withUnit(hash, next) >>> 0);
      if (entry >= 0) return weight - this.probabilities[entry]! / stepsPerUnit;
      if (oldest === history.length) break;
      const begun = this.find(hash >>> 0);
      if (begun >= 0) weight -= this.backOff[begun]! / stepsPerUnit;
    }
    return weight + unknown;
  }

  /** Index of a key in the table, or −1. */
  private find(key: number): number {
    let low = this.firsts[key >>> 16]!;
    let high = this.firsts[(key >>> 16) + 1]!;
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
  return hashOf(units, 0) >>> 0;
}

/** The hash of the units from `oldest` on, as a signed integer. */
function hashOf(units: readonly number[], oldest: number): number {
  let hash = 0x9e_37_79_b1;
  for (let index = oldest; index < units.length; index += 1) hash = withUnit(hash, units[index]!);
  return hash;
}

/** The hash of an n-gram that is longer by one unit. */
function withUnit(hash: number, unit: number): number {
  const mixed = Math.imul(hash ^ (unit + 1), 0x85_eb_ca_6b);
  return mixed ^ (mixed >>> 13);
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
