import { projectRoot } from '#paths';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseWeights } from './load-backend.js';

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
