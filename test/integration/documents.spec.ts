import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { repositoryRoot } from '#platform/testing';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, it } from 'vitest';

type Root = ReturnType<typeof fromMarkdown>;
type Node = Root | Root['children'][number];

const folders = ['docs', 'docs/clients', 'docs/design', 'tools/training/asr', 'tools/training/reader'];
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'CODE_OF_CONDUCT.md',
  'ACKNOWLEDGEMENTS.md',
  'models/README.md',
  'models/SOURCES.md',
  ...folders.flatMap((folder) =>
    readdirSync(join(repositoryRoot, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
];

const designPages = pages.filter((page) => page.startsWith('docs/design/') && !page.endsWith('README.md'));

/** Paths of our own, as `libs/platform/dag` or `test/e2e/fuzz.spec.ts`; patterns and names to be filled in are none. */
const ownPath =
  /^(?:apps|bench|deploy|docs|guardrails|libs|megaservices|models|profiles|templates|test|tools)\/[\w./-]+$/;

const parsed = new Map<string, Node[]>();

function nodesOf(page: string): Node[] {
  const options = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };
  const nodes =
    parsed.get(page) ?? descendants(fromMarkdown(readFileSync(join(repositoryRoot, page)), options));
  parsed.set(page, nodes);
  return nodes;
}

function descendants(node: Node): Node[] {
  return 'children' in node ? [node, ...node.children.flatMap(descendants)] : [node];
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): string[] {
  return nodesOf(page)
    .filter(({ type }) => type === 'heading')
    .map((heading) => {
      const text = descendants(heading).map((node) => ('value' in node ? node.value : ''));
      const words = text.join('').toLowerCase();
      return words.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    });
}

/** Links of a page that lead nowhere: no such file, or no such heading in it. */
function brokenLinks(page: string): string[] {
  const urls = nodesOf(page).flatMap((node) =>
    node.type === 'link' || node.type === 'image' || node.type === 'definition' ? [node.url] : [],
  );
  return urls.filter((url) => {
    if (/^[a-z]+:/i.test(url)) return false;
    const [path = '', anchor] = decodeURIComponent(url).split('#');
    const target = path === '' ? page : relative('.', join(dirname(page), path));
    if (!existsSync(join(repositoryRoot, target))) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
  });
}

function missingPaths(page: string): string[] {
  return nodesOf(page)
    .flatMap((node) => (node.type === 'inlineCode' && ownPath.test(node.value) ? [node.value] : []))
    .filter((path) => !existsSync(join(repositoryRoot, path)));
}

describe('the documents', () => {
  it.each(pages)('%s links to what is there', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it.each(pages)('%s names files that exist', (page) => {
    expect(missingPaths(page)).toEqual([]);
  });

  it('shows the API in 120 columns', () => {
    const lines = readFileSync(join(repositoryRoot, 'docs/api.md'), 'utf8').split('\n');
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });

  it.each(designPages)('keeps %s short, and names it in the list of the design', (page) => {
    const text = readFileSync(join(repositoryRoot, page), 'utf8');
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(2_100);
    expect(text.split('\n').filter((line) => line.length > 120)).toEqual([]);
    const list = readFileSync(join(repositoryRoot, 'docs/design/README.md'), 'utf8');
    expect(list).toContain(`(${basename(page)})`);
  });

  it('shows a streamed chat in at most 45 files and ten iterators', () => {
    const page = readFileSync(join(repositoryRoot, 'docs/architecture.md'), 'utf8');
    const section = (title: string) => page.split(`### ${title}\n`)[1]?.split(/^##/m)[0] ?? '';
    const files = section('The files of one streamed chat').match(/`(?:apps|libs)\/[^`]+\.ts`/g) ?? [];
    expect(new Set(files).size).toBe(files.length);
    expect(files.length).toBeGreaterThan(30);
    expect(files.length).toBeLessThanOrEqual(45);
    const iterators = section('The iterators of one token').match(/^\| .+ \| (?:llm|gateway) +\|$/gm) ?? [];
    expect(iterators.length).toBeGreaterThan(4);
    expect(iterators.length).toBeLessThanOrEqual(10);
    const named = iterators.flatMap((row) => row.match(/`(?:apps|libs)\/[^`]+\.ts`/g) ?? []);
    expect(files).toEqual(expect.arrayContaining(named));
  });
});
