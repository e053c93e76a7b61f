import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { detectIntegerKernel } from './graph-builder.js';

const hasVnni = process.platform === 'linux' && readFileSync('/proc/cpuinfo', 'utf8').includes('vnni');

it('asks the machine only once', async () => {
  expect(await detectIntegerKernel()).toBe(await detectIntegerKernel());
});

it.skipIf(!hasVnni)('finds exact sums on a processor with VNNI', async () => {
  expect(await detectIntegerKernel()).toBe('exact');
});
