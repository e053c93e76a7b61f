/**
 * Measures answers and their blocks from documents, through the gateway: `npm run build && node dist/bench-grounding.js
 * [--documents 240] [--questions 300] [--only wikipedia|technical] [--answers FILE]`. Documents and questions about
 * Wikipedia are from SQuAD's reported half, which is not used for fitting; the same questions are asked again of
 * unrelated documents. Technical questions are about the project's own pages and five manuals of Debian; every second
 * question (the tuned half) was used to develop the reader. The baseline picks sentences by common words.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { testData } from '#platform/foundation';
import { startStack } from '#platform/testing';
import { quantile } from '../harness/interleave.js';
import { askAll, ingest, type Asked, type Question } from './ask.js';
import { holdsLiterally, holdsWords } from './judge.js';
import { pick } from './pick-by-words.js';
import { readerTime } from './reader-time.js';
import { isManual, technicalDocuments, technicalQuestions } from './technical.js';

const { values: flags } = parseArgs({
  options: {
    documents: { type: 'string', default: '240' },
    questions: { type: 'string', default: '300' },
    only: { type: 'string' },
    answers: { type: 'string' },
  },
});

/** Number of chats in which the reader's time is measured. */
const timedChats = 150;

interface SquadLine {
  context: string;
  qas: { question: string; answers: string[]; is_impossible: boolean }[];
}
type Judge = (text: string, answers: readonly string[]) => boolean;

const squadFile = testData('data/squad/passages-questions.jsonl');
const header =
  '| | questions | answer in the text | right document | nothing cited | closest | blocks | p50 ms |\n| --- | --- | --- | --- | --- | --- | --- | --- |';
const evenly = <Item>(items: readonly Item[], count: number) =>
  items.filter(
    (_item, index) =>
      Math.floor((index * count) / items.length) !== Math.floor(((index - 1) * count) / items.length),
  );

function readSquad() {
  const lines = readFileSync(squadFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SquadLine);
  /** Takes questions evenly from the articles. */
  const reported = evenly(reportedHalf(lines), Number(flags.documents));
  const nameOf = (index: number) => `squad-${index}.txt`;
  const documents = reported.map(({ context }, index) => ({ name: nameOf(index), text: context }));
  const all: Question[] = reported.flatMap(({ qas }, index) =>
    qas
      .filter((qa) => !qa.is_impossible)
      .map(({ question, answers }) => ({ question, answers, documents: [nameOf(index)] })),
  );
  return { documents, questions: evenly(all, Number(flags.questions)) };
}

/** Like bench/retrieval. If the half has too few documents, the rest is from the other half, without questions. */
function reportedHalf(lines: readonly SquadLine[]): SquadLine[] {
  const half = lines.filter((_line, index) => index % 2 === 1);
  if (Number(flags.documents) <= half.length) return half;
  return [...half, ...lines.filter((_line, index) => index % 2 === 0).map((line) => ({ ...line, qas: [] }))];
}

const percent = (list: readonly Asked[], test: (asked: Asked) => boolean) =>
  `${((100 * list.filter(test).length) / Math.max(1, list.length)).toFixed(1)}%`;

function row(name: string, asked: readonly Asked[], judge: Judge): string {
  const quoting = asked.filter(({ cited }) => cited.length > 0);
  const quotes = quoting.reduce((sum, { cited }) => sum + cited.length, 0) / Math.max(1, quoting.length);
  const cells = [
    name,
    asked.length,
    percent(asked, ({ text, given }) => judge(text, given.answers)),
    percent(asked, ({ cited, given }) => given.documents.some((document) => cited.includes(document))),
    percent(asked, ({ cited }) => cited.length === 0),
    percent(asked, ({ text }) => text.includes('Closest passage')),
    quotes.toFixed(2),
    quantile(
      asked.map(({ milliseconds }) => milliseconds),
      0.5,
    ).toFixed(0),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Prints the number of answers that were made without a step of the mega service. */
function warn(asked: readonly Asked[]): void {
  const degraded = asked.filter((each) => each.degraded !== '');
  if (degraded.length > 0) console.log(`degraded: ${degraded.length} (${degraded[0]!.degraded} and others)`);
}

/** Writes the answers to a file, for inspection. */
function note(asked: readonly Asked[], judge: Judge): void {
  if (!flags.answers) return;
  for (const { given, text, cited } of asked)
    appendFileSync(
      flags.answers,
      `${JSON.stringify({ right: judge(text, given.answers), ...given, text, cited })}\n`,
    );
}

async function askOfWikipedia(url: string): Promise<void> {
  if (!existsSync(squadFile)) {
    console.log(`skipped: ${squadFile} is absent (see "Test data" in CONTRIBUTING.md)`);
    return;
  }
  const { documents, questions } = readSquad();
  await ingest(url, 'squad', documents);
  console.log(`${documents.length} documents, ${questions.length} questions\n\n${header}`);
  const byWords = await askAll(questions, (given) => pick(url, 'squad', given));
  console.log(row('most words in common', byWords, holdsWords));
  const answered = await askAll(questions, { url, collection: 'squad' });
  note(answered, holdsWords);
  warn(answered);
  console.log(row('MegaNest', answered, holdsWords));
  const others = await askAll(questions, { url, collection: 'guides' });
  warn(others);
  console.log(row('of other documents', others, holdsWords));
  console.log(`\n${await readerTime(url, 'squad', questions.slice(0, timedChats))}`);
}

async function askOfTechnicalText(url: string): Promise<void> {
  const { documents, missing } = technicalDocuments();
  if (missing.length > 0) console.log(`without the manuals that are not installed: ${missing.join(', ')}`);
  await ingest(url, 'technical', documents);
  const questions = technicalQuestions(documents.map(({ name }) => name));
  console.log(`\n${documents.length} documents, ${questions.length} questions\n\n${header}`);
  const byWords = await askAll(questions, (given) => pick(url, 'technical', given));
  console.log(row('most words in common', byWords, holdsLiterally));
  const answered = await askAll(questions, { url, collection: 'technical' });
  note(answered, holdsLiterally);
  warn(answered);
  /** Mean length of the answers. */
  const words = answered.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0) / answered.length;
  console.log(`${words.toFixed(0)} words an answer`);
  const show = (name: string, test: (asked: Asked, index: number) => boolean) =>
    console.log(row(name, answered.filter(test), holdsLiterally));
  const ofManual = ({ given }: Asked) => given.documents.some(isManual);
  show('MegaNest', () => true);
  show('tuned half', (_asked, index) => index % 2 === 0);
  show('reported half', (_asked, index) => index % 2 === 1);
  show("the project's pages", (asked) => !ofManual(asked));
  show('manuals', ofManual);
}

const stack = await startStack({
  env: { RATE_LIMIT_PER_MINUTE: '0', REQUEST_TIMEOUT_MS: '120000', WEB_UI: 'false' },
});
try {
  const { url } = stack.service('gateway');
  if (flags.only !== 'technical') {
    await ingest(
      url,
      'guides',
      technicalDocuments().documents.filter(({ name }) =>
        ['README.md', 'docs-api.md', 'docs-configuration.md', 'docs-operations.md'].includes(name),
      ),
    );
    await askOfWikipedia(url);
  }
  if (flags.only !== 'wikipedia') await askOfTechnicalText(url);
} finally {
  await stack.stop().catch((error: unknown) => console.error(error));
}
