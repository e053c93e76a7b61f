import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Larger files are data. */
const maxBytes = 1024 * 1024;

/** The text files of the repository, with those that are not committed yet: path and content. */
export function* repositoryFiles() {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const paths = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * maxBytes });
  for (const path of paths.split('\0').filter(Boolean)) {
    const size = statSync(join(root, path), { throwIfNoEntry: false })?.size ?? Infinity;
    if (size > maxBytes) continue;
    const text = readFileSync(join(root, path), 'utf8');
    if (!text.includes('\0')) yield { path, text };
  }
}

/** Prints the findings, one line for each, and fails if there are any. */
export function report(findings, what) {
  for (const { path, line, reason } of findings) console.error(`${path}:${line}: ${reason}`);
  if (findings.length > 0) process.exitCode = 1;
  else console.log(`${what}: nothing found.`);
}

/** Number of the line of a position, from 1. */
export function lineOf(text, index) {
  return text.slice(0, index).split('\n').length;
}
