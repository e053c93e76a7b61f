import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';
import type { Question } from './ask.js';

interface Row {
  question: string;
  /** Documents that contain the answer: files of this project, and manuals as `page.section`. */
  documents: string[];
  /** A right answer contains one of these texts; they were written before any answer was seen. */
  answers: string[];
}

/** The installed manuals of Debian that the questions are about. */
const manuals = ['apt-get.8', 'tar.1', 'find.1', 'curl.1', 'ssh_config.5'];

/** The project's own pages, and the manuals of this machine. `missing` are the manuals that are not installed. */
export function technicalDocuments(): { documents: { name: string; text: string }[]; missing: string[] } {
  const pages = readdirSync(join(projectRoot, 'docs')).filter((name) => name.endsWith('.md'));
  const documents = ['README.md', ...pages.map((name) => `docs/${name}`)].map((name) => ({
    name: nameOf(name),
    text: readFileSync(join(projectRoot, name), 'utf8'),
  }));
  const missing: string[] = [];
  for (const manual of manuals) {
    const text = readManual(manual);
    if (text === undefined) missing.push(manual);
    else documents.push({ name: nameOf(manual), text });
  }
  return { documents, missing };
}

/** Returns the questions about these documents, with the texts of right answers. */
export function technicalQuestions(names: readonly string[]): Question[] {
  const rows = readFileSync(join(projectRoot, 'bench', 'grounding', 'technical-questions.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  return rows
    .map(({ question, documents, answers }) => ({ question, answers, documents: documents.map(nameOf) }))
    .filter(({ documents }) => documents.some((name) => names.includes(name)));
}

/** Whether a document is one of the manuals. */
export function isManual(name: string): boolean {
  return manuals.some((manual) => nameOf(manual) === name);
}

function nameOf(document: string): string {
  return document.endsWith('.md') ? document.replace('/', '-') : `${document}.txt`;
}

/** Returns a manual in the format that `man` writes to a file; undefined if it is not installed. */
export function readManual(manual: string): string | undefined {
  const [page = '', section = ''] = manual.split(/\.(?=\d$)/);
  try {
    const text = execFileSync('man', ['-P', 'cat', '-E', 'UTF-8', '--nh', '--nj', section, page], {
      encoding: 'utf8',
      env: { ...process.env, MANWIDTH: '100', MAN_KEEP_FORMATTING: '' },
      maxBuffer: 1 << 24,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.trim() === '' ? undefined : text;
  } catch {
    return undefined;
  }
}
