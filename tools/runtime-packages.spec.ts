import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTemporaryDirectory, repositoryRoot } from '#platform/testing';
import { copyRuntimePackages, packagesWithDependencies, runtimePackages } from './runtime-packages.mjs';

const modules = join(repositoryRoot, 'node_modules');
let directory: { path: string; remove(): Promise<void> };

beforeAll(async () => (directory = await createTemporaryDirectory()));
afterAll(() => directory.remove());

/** Packages whose files our sources find by their path, in place of an import. */
function packagesFoundByPath(): string[] {
  const sources = ['apps', 'libs'].flatMap((folder) =>
    readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/\.(spec|fixture)\.ts$|^testing\/|^local-stack\//.test(path))
      .map((path) => readFileSync(join(repositoryRoot, folder, path), 'utf8')),
  );
  const paths = sources.flatMap((text) =>
    /createRequire/.test(text)
      ? [...text.matchAll(/(?:resolve|require|codeOf)\('((?:@[\w-]+\/)?[\w.-]+)/g)].map(([, name]) => name!)
      : [],
  );
  return [...new Set(paths)];
}

it('has every package that the sources find by its path', () => {
  expect(packagesFoundByPath()).toContain('swagger-ui-dist');
  expect(runtimePackages).toEqual(expect.arrayContaining(packagesFoundByPath()));
});

it('has every package that the build leaves out of dist, except the embedded database of npm start', () => {
  const build = readFileSync(join(repositoryRoot, 'tools/build.mjs'), 'utf8');
  const [, alternatives = ''] = /externalPackages =\s+\/\^\((.+)\)\$\//.exec(build) ?? [];
  const names = alternatives.split('|').map((name) => name.replaceAll('\\', ''));
  expect(names).toContain('onnxruntime-node');
  for (const name of names.filter((each) => !each.startsWith('@electric-sql/'))) {
    const scope = name.replace('/.*', '/');
    expect([name, runtimePackages.some((each) => each === name || each.startsWith(scope))]).toEqual([
      name,
      true,
    ]);
  }
});

it('copies the packages with their dependencies, and the binaries of this system alone', () => {
  copyRuntimePackages(modules, directory.path);
  for (const name of packagesWithDependencies(modules))
    expect([name, existsSync(join(directory.path, name, 'package.json'))]).toEqual([name, true]);
  expect(packagesWithDependencies(modules)).toContain('wasm-feature-detect');
  const binaries = join(directory.path, 'onnxruntime-node/bin/napi-v6');
  expect(readdirSync(binaries)).toEqual([process.platform]);
  expect(readdirSync(join(binaries, process.platform))).toEqual([process.arch]);
});

it('names a package that is not installed', () => {
  const broken = join(directory.path, 'broken');
  mkdirSync(join(broken, 'a'), { recursive: true });
  writeFileSync(join(broken, 'a/package.json'), '{"dependencies":{"b":"1.0.0"}}');
  expect(() => packagesWithDependencies(broken, ['a'])).toThrow('b is not installed.');
});
