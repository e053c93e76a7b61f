import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelLoadError } from '#engine/models';
import { keyOf, readLanguageModel, UnitLanguageModel } from './unit-language-model.js';

interface Entry {
  readonly units: readonly number[];
  /** Natural logarithms, in sixteenths. */
  readonly probability: number;
  readonly backOff?: number;
}

function tableOf(order: number, entries: readonly Entry[]): Buffer {
  const sorted = entries.toSorted((a, b) => keyOf(a.units) - keyOf(b.units));
  const header = Buffer.alloc(16);
  header.write('NLM1', 'latin1');
  header.writeUInt32LE(order, 4);
  header.writeUInt32LE(sorted.length, 8);
  const keys = Buffer.alloc(4 * sorted.length);
  for (const [index, { units }] of sorted.entries()) keys.writeUInt32LE(keyOf(units), 4 * index);
  const probabilities = Buffer.from(sorted.map(({ probability }) => -probability));
  const backOff = Buffer.from(sorted.map(({ backOff: weight = 0 }) => -weight));
  return Buffer.concat([header, keys, probabilities, backOff]);
}

const table = tableOf(3, [
  { units: [1], probability: -16, backOff: -8 },
  { units: [2], probability: -32 },
  { units: [0, 1], probability: -4, backOff: -2 },
  { units: [1, 2], probability: -6, backOff: -1 },
  { units: [0, 1, 2], probability: -3 },
]);

describe('UnitLanguageModel', () => {
  const model = UnitLanguageModel.from(table, 'lm.bin');

  it('hashes like the script that writes the tables', () => {
    expect([[], [0], [5], [5, 17, 255], [255, 17, 5]].map(keyOf)).toEqual([
      2_654_435_761, 197_452_469, 3_040_013_511, 2_460_908_090, 994_401_681,
    ]);
  });

  it('takes the longest n-gram that it has', () => {
    expect(model.score([], 1)).toBe(-4 / 16);
    expect(model.score([1], 2)).toBe(-3 / 16);
  });

  it('sees the last units of a long history only', () => {
    expect(model.score([2, 1, 2, 1], 2)).toBe(-6 / 16);
  });

  it('backs off by the weight of each history that is left', () => {
    expect(model.score([], 2)).toBe(-32 / 16);
    expect(model.score([1], 1)).toBe((-2 - 8 - 16) / 16);
  });

  it('gives a unit that it has never seen a small probability', () => {
    expect(model.score([2], 9)).toBe(-16);
  });

  it.each([
    ['too few bytes', Buffer.from('NLM1')],
    ['another file', Buffer.alloc(64)],
    ['a table that is cut off', table.subarray(0, -1)],
  ])('refuses %s', (_, bytes) => {
    expect(() => UnitLanguageModel.from(bytes, 'lm.bin')).toThrow(ModelLoadError);
  });
});

describe('readLanguageModel', () => {
  let folder: string;
  const write = (config: object) => writeFile(join(folder, 'config.json'), JSON.stringify(config));
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meganest-lm-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is absent where config.json names none', async () => {
    await write({});
    expect(await readLanguageModel(folder)).toBeUndefined();
  });

  it('weighs as config.json says', async () => {
    await write({ language_model: { file: 'lm.bin', weight: 0.5, unit_bonus: 1.5 } });
    await writeFile(join(folder, 'lm.bin'), table);
    const languageModel = await readLanguageModel(folder);
    expect(languageModel?.next([1], 2)).toBe((0.5 * -3) / 16 + 1.5);
    expect(languageModel?.end([1])).toBeLessThan(0);
  });

  it('says which file is missing', async () => {
    await write({ language_model: { file: 'other.bin', weight: 0.5, unit_bonus: 0 } });
    await expect(readLanguageModel(folder)).rejects.toThrow('other.bin');
  });
});
