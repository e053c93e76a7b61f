/**
 * The documents of handbook-questions.jsonl, on which the fusion is fitted for passages below headings: manuals of
 * Debian, documentation of packages in node_modules, and the documentation of npm. bench/grounding does not have
 * questions about them.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readManual } from '../../../bench/grounding/technical.ts';

/** Folders whose pages are all ingested, by the name of their collection. */
const folders = {
  fastify: ['node_modules/fastify/docs/Reference'],
  pino: ['node_modules/pino/docs'],
  undici: ['node_modules/undici/docs/docs/api'],
  npm: ['commands', 'configuring-npm', 'using-npm'].map((folder) => join(npmDocuments(), folder)),
};
const isManual = (document) => /\.\d$/.test(document);

/** Folder of npm's documentation. */
function npmDocuments() {
  const root = execFileSync('npm', ['root', '--global'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  return join(root, 'npm', 'docs', 'content');
}

/** A collection of each kind of handbook: its files, and the questions about them. */
export function handbooks() {
  const rows = readFileSync('tools/training/reader/handbook-questions.jsonl', 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const collections = new Map();
  for (const { document, question, answers } of rows) {
    const [first] = document.split('/');
    const name = isManual(document) ? 'manuals' : first in folders ? first : 'packages';
    const collection = collections.get(name) ?? { name, files: new Map(), questions: [] };
    collections.set(name, collection);
    const file = fileOf(document, name);
    if (!(name in folders)) collection.files.set(file, collection.files.get(file) ?? textOf(document));
    collection.questions.push({ question, answers, documents: [file] });
  }
  for (const [name, paths] of Object.entries(folders))
    for (const path of paths)
      for (const page of readdirSync(path).filter((each) => each.endsWith('.md')))
        collections.get(name).files.set(page.toLowerCase(), readFileSync(join(path, page), 'utf8'));
  return [...collections.values()].map(({ name, files, questions }) => ({
    name,
    questions,
    files: [...files].map(([file, text]) => ({ name: file, text })),
  }));
}

/** Name of the file in its collection: the name of the package for its README. */
function fileOf(document, collection) {
  if (collection === 'manuals') return `${document}.txt`;
  if (collection !== 'packages') return basename(document).toLowerCase();
  return `${document.split('/').at(-2)}.md`;
}

function textOf(document) {
  if (!isManual(document)) return readFileSync(join('node_modules', document), 'utf8');
  const text = readManual(document);
  if (text === undefined) throw new Error(`The manual ${document} is not installed`);
  return text;
}
