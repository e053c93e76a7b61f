import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from '#platform/testing';
import { isAllowed, problemsOf } from './check-licenses.mjs';
import { packagesWithDependencies } from './runtime-packages.mjs';

it.each(['MIT', '(MIT OR GPL-3.0-or-later)', '(MIT AND Zlib)'])('allows %s', (expression) => {
  expect(isAllowed(expression)).toBe(true);
});

it.each(['GPL-3.0-or-later', 'MIT AND LGPL-3.0-or-later', 'none', 'SEE LICENSE IN LICENSE'])(
  'refuses %s',
  (expression) => {
    expect(isAllowed(expression)).toBe(false);
  },
);

it('names packages, also those within packages, and exceptions that are not needed', () => {
  const problems = problemsOf({
    '': { license: 'Apache-2.0' },
    'node_modules/a/node_modules/@b/c': { license: 'AGPL-3.0', version: '1.0.0' },
    'node_modules/only-for-tests': { license: 'GPL-2.0', dev: true },
    'node_modules/mediabunny': { license: 'MPL-2.0' },
    'node_modules/onnxruntime-web/node_modules/d': { license: 'MIT', version: '1.0.0-dev.1' },
    'node_modules/d': { license: 'MIT', version: '1.0.0-dev.1' },
  });
  expect(problems).toContain('@b/c 1.0.0: the license AGPL-3.0 is not allowed');
  expect(problems).toContain('d 1.0.0-dev.1 is a prerelease');
  expect(problems.filter((line) => line.includes('not needed'))).toHaveLength(3);
  expect(problems).toHaveLength(5);
});

it('is right that the image has no sharp and no onnxruntime-web', () => {
  const dockerfile = readFileSync(join(repositoryRoot, 'deploy/Dockerfile'), 'utf8');
  // The image has what tools/runtime-packages.mjs copies, and no other packages.
  const copied = [...dockerfile.matchAll(/^COPY --from=(\S+) (\S+) node_modules$/gm)].map(
    ([, ...from]) => from,
  );
  expect(copied).toEqual([
    ['packages', '/packages'],
    ['packages-gpu', '/packages'],
  ]);
  expect(dockerfile).not.toMatch(/^COPY .*\/node_modules /m);
  const names = packagesWithDependencies(join(repositoryRoot, 'node_modules'));
  expect(names.filter((name) => /^(@img\/.*|sharp|onnxruntime-web)$/.test(name))).toEqual([]);
});

it('finds nothing in the packages of this repository', () => {
  const lock = readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Record<string, object> };
  expect(problemsOf(packages)).toEqual([]);
});
