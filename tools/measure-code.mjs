/**
 * Prints the size and shape of the sources of apps and libs, without specs and fixtures: lines of files, lines of functions,
 * large folders, cycles of folders and repeated lines. `npm run measure` runs it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

const filesInFolder = 20;
const repeatedLines = 6;

const paths = ['apps', 'libs']
  .flatMap((root) => readdirSync(root, { recursive: true }).map((path) => `${root}/${String(path)}`))
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.tsx?$/.test(path) && !/\.(spec|fixture)\.tsx?$|\.d\.ts$/.test(path))
  .sort();
const sources = paths.map((path) => {
  const text = readFileSync(path, 'utf8');
  return { path, text, lines: text.trimEnd().split('\n') };
});

const lengths = sources.map(({ lines }) => lines.length);
const functions = sources.flatMap(functionsOf);
const cycles = ['apps', 'libs'].flatMap((root) => cyclesIn(folderGraph(root)));
const repeats = repeatedRuns();

print('files', `${paths.length}, ${sum(lengths)} lines`);
print('lines of a file', `mean ${Math.floor(sum(lengths) / lengths.length)}, ${spread(lengths)}`);
print('lines of a function', spread(functions.map(({ length }) => length)));
for (const { name, path, length } of functions.filter(({ length }) => length > 60))
  print('  over 60 lines', `${name} in ${path}: ${length}`);
for (const [folder, count] of countBy(paths.map(dirname)))
  if (count > filesInFolder) print(`folder over ${filesInFolder} files`, `${folder}: ${count}`);
print('cycles of folders', cycles.length);
for (const cycle of cycles) print('  cycle', cycle.join(' → '));
print(`repeats of ${repeatedLines} lines or more`, repeats.length);
for (const [first, second] of repeats) print('  repeat', `${first} and ${second}`);

/** Returns named functions, methods, accessors and constructors with their line counts. */
function functionsOf({ path, text }) {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const found = [];
  const lineOf = (position) => file.getLineAndCharacterOfPosition(position).line;
  const visit = (node) => {
    const name = nameOf(node);
    if (name !== undefined)
      found.push({ path, name, length: lineOf(node.end) - lineOf(node.getStart(file)) + 1 });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function nameOf(node) {
  if (ts.isConstructorDeclaration(node) && node.body) return 'constructor';
  const hasBody =
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isGetAccessor(node) ||
    ts.isSetAccessor(node);
  if (hasBody) return node.body && (node.name?.getText() ?? 'default');
  const isArrow = ts.isVariableDeclaration(node) && node.initializer && ts.isArrowFunction(node.initializer);
  return isArrow ? node.name.getText() : undefined;
}

/**
 * Returns the imports among the folders of a root. An import of `#lib` is an import of the folder of that lib's index.
 */
function folderGraph(root) {
  const graph = new Map();
  for (const { path, text } of sources.filter(({ path }) => path.startsWith(`${root}/`))) {
    const from = dirname(path);
    for (const [, specifier] of text.matchAll(/^(?:import|export)\b[^'"]*?from '([^']+)'/gm)) {
      const to = specifier.startsWith('#')
        ? `libs/${specifier.slice(1)}/src`
        : specifier.startsWith('.')
          ? dirname(normalize(join(from, specifier)))
          : undefined;
      if (to !== undefined && to !== from) graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
  }
  return graph;
}

/** Returns pairs of folders that import each other, without pairs of a parent and its own subfolder. */
function cyclesIn(graph) {
  const within = (parent, child) => child.startsWith(`${parent}/`);
  return [...graph].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => from < to && graph.get(to)?.has(from) && !within(from, to) && !within(to, from))
      .map((to) => [from, to, from]),
  );
}

/**
 * Returns places that share at least `repeatedLines` identical lines of code; imports and lines of punctuation do not
 * count.
 */
function repeatedRuns() {
  const seen = new Map();
  const found = new Map();
  for (const { path, text } of sources) {
    const code = withoutImports(text)
      .split('\n')
      .map((line, index) => ({ line: line.trim(), number: index + 1 }))
      .filter(({ line }) => /\w/.test(line) && !/^(\/?\*|\/\/)/.test(line));
    for (let start = 0; start + repeatedLines <= code.length; start += 1) {
      const run = code.slice(start, start + repeatedLines);
      const key = run.map(({ line }) => line).join('\n');
      const first = seen.get(key);
      if (first === undefined) seen.set(key, { path, number: run[0].number });
      else if (!found.has(`${first.path} ${path}`))
        found.set(`${first.path} ${path}`, [`${first.path}:${first.number}`, `${path}:${run[0].number}`]);
    }
  }
  return [...found.values()];
}

/** Replaces the imports and re-exports of a text, which may have several lines, by empty lines. */
function withoutImports(text) {
  return text.replaceAll(/^(?:import|export)\b(?:[^'";=(]*?from )? ?'[^']+';/gm, (found) =>
    found.replaceAll(/[^\n]/g, ''),
  );
}

function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return `median ${at(0.5)}, 95th percentile ${at(0.95)}, maximum ${sorted.at(-1)}`;
}

function countBy(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function print(name, value) {
  console.log(`${name.padEnd(32)} ${value}`);
}
