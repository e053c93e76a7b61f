import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

it('docs/clients.md names the versions that the tests run, and tests that exist', async () => {
  const page = await read('docs/clients.md');
  const manifests = await Promise.all(['package.json', 'test/e2e/clients/codex/package.json'].map(read));
  const versions = Object.assign(
    {},
    ...manifests.map((text) => {
      const { dependencies, devDependencies } = JSON.parse(text) as Manifest;
      return { ...dependencies, ...devDependencies };
    }),
  ) as Record<string, string>;
  const rows = page.split('\n').filter((line) => /^\| [^-]/.test(line) && !line.startsWith('| client'));
  const named = rows.map((row) => /^([@\w/-]+) (\d\S*)$/.exec(row.split('|')[2]?.trim() ?? ''));
  const found = named.flatMap((match) => (match ? [[match[1], match[2]] as const] : []));
  expect(found.length).toBeGreaterThanOrEqual(8);
  for (const [name = '', version] of found) expect([name, version]).toEqual([name, versions[name]]);
  const links = [...page.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, path = '']) => path);
  for (const path of links) expect(await read(path)).not.toBe('');
});
