import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { afterAll, expect } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = join(root, 'docs', 'clients.md');
/** All cells of a column are as wide as the longest one, so a long title makes the page large: 140 rows of 100,000 characters are 14 MB. */
const maxTitleCharacters = 250;

/** A client of another maker. */
export interface TestedClient {
  client: string;
  /** The package that its version is read from. */
  name: string;
  /** The folder that the package is installed in. */
  folder?: string;
}

/** What the recorder needs to know of a test, of a group of tests, or of a file. */
interface Task {
  type: string;
  name: string;
  filepath?: string;
  tasks?: readonly Task[];
  result?: { state: string };
}

/**
 * Called at the top of a spec: the tests of the file are the client's rows in docs/clients.md. After the tests, the rows
 * are compared with the page, or written to it where `UPDATE_DOCS=1` is set. A run of a part of the tests makes no rows.
 * A title that is too long for a row fails the file.
 */
export function recordClient(tested: TestedClient): void {
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the names of fixtures from the pattern
  afterAll(async ({}, file) => {
    const titles = passedTitles(file);
    if (!titles) return;
    const long = titles.filter((title) => title.length > maxTitleCharacters);
    expect(
      long.map((title) => title.slice(0, maxTitleCharacters)),
      'are too long for a row',
    ).toEqual([]);
    const path = (file as Task).filepath ?? '';
    const link = `[${basename(path, '.spec.ts')}](${relative(dirname(page), path)})`;
    const version = await versionOf(tested);
    const rows = titles.map((title) => rowOf([tested.client, version, title, link]));
    const written = await readFile(page, 'utf8');
    const current = await withRows(written, link, rows);
    if (process.env['UPDATE_DOCS'] === '1') await writeFile(page, current);
    else expect(written, 'docs/clients.md is not current: run npm run update:clients').toBe(current);
  });
}

/** The titles of all tests, in order; undefined where one was left out or has failed. */
function passedTitles(task: Task, group = ''): string[] | undefined {
  if (task.type === 'test') return task.result?.state === 'pass' ? [group + task.name] : undefined;
  const within = task.filepath === undefined ? `${group}${task.name} ` : group;
  const titles = (task.tasks ?? []).map((each) => passedTitles(each, within));
  return titles.every((each) => each !== undefined) ? titles.flat() : undefined;
}

async function versionOf({ name, folder = '.' }: TestedClient): Promise<string> {
  const manifest = await readFile(join(root, folder, 'node_modules', name, 'package.json'), 'utf8');
  return `${name} ${(JSON.parse(manifest) as { version: string }).version}`;
}

function rowOf(cells: readonly string[]): string {
  const written = cells.map((text) => text.replaceAll(/\s+/g, ' ').replaceAll(/[|*_`<]/g, String.raw`\$&`));
  return `| ${written.join(' | ')} |`;
}

/** The page with these rows in the place of those that have the same link; rows lie by client, in the order of the tests. */
async function withRows(text: string, link: string, rows: readonly string[]): Promise<string> {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^\| -+/.test(line)) + 1;
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith('|'));
  const others = lines.slice(start, end).filter((line) => !line.includes(`| ${link} `));
  lines.splice(start, end - start, ...[...others, ...rows].toSorted(byClient));
  return format(lines.join('\n'), { ...(await resolveConfig(page)), parser: 'markdown' });
}

function byClient(a: string, b: string): number {
  const [first = '', second = ''] = [a, b].map((line) => line.split('|')[1]?.trim());
  return first < second ? -1 : Number(first > second);
}
