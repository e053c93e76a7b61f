import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';
import { expect, it } from 'vitest';

const report = execFileSync(process.execPath, [join(projectRoot, 'tools/measure-code.mjs')], {
  cwd: projectRoot,
  encoding: 'utf8',
});

it('finds folders without cycles and with few files', () => {
  expect(report).toMatch(/^cycles of folders +0$/m);
  const large = [...report.matchAll(/^folder over 20 files +(\S+): \d+$/gm)].map(([, folder]) => folder);
  // Migrations only grow in number, one by one.
  expect(large.filter((folder) => !folder!.endsWith('/migrations'))).toEqual([]);
});

it('finds files of a readable size, short functions and no repeated lines', () => {
  const [, mean, ninetyFifth] =
    /^lines of a file +mean (\d+), median \d+, 95th percentile (\d+)/m.exec(report) ?? [];
  expect(Number(mean)).toBeGreaterThanOrEqual(95);
  expect(Number(ninetyFifth)).toBeLessThanOrEqual(250);
  expect(report).not.toMatch(/over 60 lines/);
  const repeats = [...report.matchAll(/^ +repeat +(.+)$/gm)].map(([, places]) => places);
  expect(repeats).toEqual([]);
});
