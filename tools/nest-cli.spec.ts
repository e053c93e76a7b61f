import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The page that Nest's own tool and editors read. */
const { projects } = JSON.parse(readFileSync('nest-cli.json', 'utf8')) as {
  projects: Record<string, { type: string; root: string }>;
};

/** The browser's page is not a Nest project. */
const withoutNest = new Set(['apps/web']);

it('nest-cli.json lists each app and each lib', () => {
  const areas = readdirSync('libs').map((name) => `libs/${name}`);
  const folders = ['apps', ...areas].flatMap((parent) =>
    readdirSync(parent).map((name) => `${parent}/${name}`),
  );
  const roots = Object.values(projects).map(({ root }) => root);
  expect(roots.toSorted()).toEqual(folders.filter((folder) => !withoutNest.has(folder)).toSorted());
});
