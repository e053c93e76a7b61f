import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '#paths';
import { expect, it } from 'vitest';

it('finds folders without cycles and with few files', () => {
  const report = execFileSync(process.execPath, [join(projectRoot, 'tools/measure-code.mjs')], {
    cwd: projectRoot,
    encoding: 'utf8',
  });
  expect(report).toMatch(/^lines of a file +mean \d+, median \d+/m);
  expect(report).toMatch(/^cycles of folders +0$/m);
  const large = [...report.matchAll(/^folder over 20 files +(\S+): \d+$/gm)].map(([, folder]) => folder);
  expect(large).toEqual([]);
});
