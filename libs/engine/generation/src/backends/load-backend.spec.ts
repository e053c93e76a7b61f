import { projectRoot } from '#platform/foundation';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDecoderConfig } from '#engine/models';
import { chooseKeyValues, chooseWeights } from './load-backend.js';

const directory = join(projectRoot, 'models', 'nano-chat');
/** Parameters of nano-chat; int8 wants half as many bytes again. */
const parameters = 8_000_000;
const onProcessor = { kind: 'auto', compiledDirectory: '', weights: 'int8' } as const;
const onDevice = { ...onProcessor, weights: 'fp32' } as const;

describe('chooseWeights', () => {
  it('takes int8 where it fits the free memory, otherwise int4', async () => {
    const choose = (free: number) =>
      chooseWeights({ directory, weights: 'auto', engine: onProcessor }, () => free);
    expect(await choose(2 * parameters)).toBe('int8');
    expect(await choose(parameters)).toBe('int4');
  });

  it('reads the free memory of the machine', async () => {
    expect(await chooseWeights({ directory, weights: 'auto', engine: onProcessor })).toBe('int8');
  });

  it('takes what was asked for, and fp32 on a device', async () => {
    expect(await chooseWeights({ directory, weights: 'fp32', engine: onProcessor })).toBe('fp32');
    expect(await chooseWeights({ directory, weights: 'int4', engine: onProcessor })).toBe('int4');
    expect(await chooseWeights({ directory, weights: 'auto', engine: onDevice }, () => 0)).toBe('fp32');
    await expect(chooseWeights({ directory, weights: 'int4', engine: onDevice })).rejects.toThrow(
      'Weights in int4 need the processor',
    );
  });
});

describe('chooseKeyValues', async () => {
  /** Its float cache takes 16 KiB a position; 512 MiB for 16 answers of 2,048 tokens. */
  const config = await readDecoderConfig(directory);
  const settings = {
    keyValues: 'auto',
    config,
    maxAnswers: 16,
    memory: { sequenceBytes: 2 ** 29, prefixBytes: 0 },
  } as const;
  const larger = { ...settings, config: { ...config, layers: config.layers + 1 }, maxAnswers: 1 };

  it('takes int8 for large positions of rounded weights', () => {
    expect(chooseKeyValues(settings, 'int8')).toBe('float');
    expect(chooseKeyValues(larger, 'int8')).toBe('int8');
    expect(chooseKeyValues(larger, 'int4')).toBe('int8');
    expect(chooseKeyValues(larger, 'fp32')).toBe('float');
  });

  it('takes int8 where float does not fit the memory', () => {
    for (const weights of ['fp32', 'int8'] as const)
      expect(chooseKeyValues({ ...settings, maxAnswers: 17 }, weights)).toBe('int8');
  });

  it('takes what was asked for', () => {
    expect(chooseKeyValues({ ...settings, keyValues: 'int8' }, 'fp32')).toBe('int8');
    expect(chooseKeyValues({ ...larger, keyValues: 'float' }, 'int8')).toBe('float');
  });
});
