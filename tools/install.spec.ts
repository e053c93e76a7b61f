import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { satisfies } from 'semver';
import { expect, it } from 'vitest';

interface LockedPackage {
  version: string;
  optional?: boolean;
  engines?: { node?: string };
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, LockedPackage>;
};

it.each(['20.19.0', '22.13.0', '24.0.0'])(
  'installs on Node %s without a package that refuses it',
  (version) => {
    const refusing = Object.entries(packages).filter(
      ([, { engines, optional }]) =>
        !optional && engines?.node !== undefined && !satisfies(version, engines.node),
    );
    expect(refusing.map(([path]) => path)).toEqual([]);
  },
);

it('gives npm only settings that it knows', { timeout: 60_000 }, async () => {
  const { stderr } = await promisify(execFile)('npm', ['config', 'list']);
  expect(stderr).not.toContain('project config');
});
