/**
 * What a user sees, from the question to the answer through the gateway: `npm run build && node dist/bench-grounding.js
 * [--documents 240] [--questions 300]`. Documents and questions are those of SQuAD's reported half, which nothing is fitted
 * on; the same questions are asked again of documents about other things. The picker of words is the baseline.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '#paths';
import { startStack } from '#testing';
import { quantile } from '../harness/quantile.js';
import { askAll, ingest, type Asked, type Question } from './ask.js';
import { pick } from './pick-by-words.js';

const { values: flags } = parseArgs({
  options: {
    documents: { type: 'string', default: '240' },
    questions: { type: 'string', default: '300' },
  },
});

interface SquadLine {
  context: string;
  qas: { question: string; answers: string[]; is_impossible: boolean }[];
}

const path = join(projectRoot, '..', 'shared', 'data', 'squad', 'passages-questions.jsonl');
if (!existsSync(path)) {
  console.error('skipped: ../shared/data/squad/passages-questions.jsonl is not there');
  process.exit(0);
}
const lines = readFileSync(path, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as SquadLine);
/** The reported half, as in bench/retrieval; evenly over its articles. */
const reported = lines.filter((_line, index) => index % 2 === 1);
const evenly = <Item>(items: readonly Item[], count: number) =>
  items.filter(
    (_item, index) =>
      Math.floor((index * count) / items.length) !== Math.floor(((index - 1) * count) / items.length),
  );
const documents = evenly(reported, Number(flags.documents)).map(({ context }, index) => ({
  name: `squad-${index}.txt`,
  text: context,
}));
const all: Question[] = evenly(reported, Number(flags.documents)).flatMap(({ qas }, index) =>
  qas
    .filter((qa) => !qa.is_impossible)
    .map(({ question, answers }) => ({ question, answers, document: `squad-${index}.txt` })),
);
const questions = evenly(all, Number(flags.questions));
const guides = ['README.md', 'docs/api.md', 'docs/configuration.md', 'docs/operations.md'].map((name) => ({
  name: name.replace('/', '-'),
  text: readFileSync(join(projectRoot, name), 'utf8'),
}));

const normal = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} ]+/gu, ' ')
    .split(/\s+/)
    .filter((word) => !['', 'a', 'an', 'the'].includes(word))
    .join(' ');
const holds = (text: string, answers: readonly string[]) =>
  answers.some((answer) => normal(answer) !== '' && normal(text).includes(normal(answer)));
const percent = (list: readonly Asked[], test: (asked: Asked) => boolean) =>
  `${((100 * list.filter(test).length) / Math.max(1, list.length)).toFixed(1)}%`;

function row(name: string, asked: readonly Asked[]): string {
  const quoting = asked.filter(({ cited }) => cited.length > 0);
  const quotes = quoting.reduce((sum, { cited }) => sum + cited.length, 0) / Math.max(1, quoting.length);
  const cells = [
    name,
    percent(asked, ({ text, given }) => holds(text, given.answers)),
    percent(asked, ({ cited, given }) => cited.includes(given.document)),
    percent(asked, ({ cited }) => cited.length === 0),
    percent(asked, ({ text }) => text.startsWith('I am not sure')),
    quotes.toFixed(2),
    quantile(
      asked.map(({ milliseconds }) => milliseconds),
      0.5,
    ).toFixed(0),
  ];
  return `| ${cells.join(' | ')} |`;
}

const stack = await startStack({
  env: { RATE_LIMIT_PER_MINUTE: '0', REQUEST_TIMEOUT_MS: '120000', WEB_UI: 'false' },
});
try {
  const { url } = stack.service('gateway');
  await ingest(url, 'squad', documents);
  await ingest(url, 'guides', guides);
  console.log(`${documents.length} documents, ${questions.length} questions\n`);
  console.log('| | answer in the text | right document | nothing cited | unsure | quotes | p50 ms |');
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  console.log(row('most words in common', await askAll(questions, (given) => pick(url, 'squad', given))));
  console.log(row('MegaNest', await askAll(questions, { url, collection: 'squad' })));
  console.log(row('of other documents', await askAll(questions, { url, collection: 'guides' })));
} finally {
  await stack.stop().catch((error: unknown) => console.error(error));
}
