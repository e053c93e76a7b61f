import { quantile } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import type { Answer } from './ask.js';
import type { Verdict } from './judge.js';
import { halfOf, type Half, type Question } from './questions.js';

/** A question with its answer and verdict. */
export interface Judged {
  question: Question;
  answer: Answer;
  verdict: Verdict;
}

type Flag = 'right' | 'first' | 'clean' | 'prefaced';

const head = ['', 'n', 'right', 'first', 'clean', 'prefaced', 'wrong refusals', 'words', 'p50 ms'];
/** Types that are not questions with an answer in one text; the rest is `questions`. */
const apart: Readonly<Record<string, string>> = {
  'follow-up': 'follow-ups',
  unanswerable: 'unanswerable (right: refused)',
  'small-talk': 'small talk',
};

const count = (list: readonly Judged[], flag: Flag) => list.filter(({ verdict }) => verdict[flag]).length;
const share = (part: number, whole: number) => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(0)}%`);
const isApart = ({ question }: Judged) => question.type in apart;

function row(name: string, list: readonly Judged[]): (string | number)[] {
  const refusals = list.filter(
    ({ question, verdict }) => question.type !== 'unanswerable' && verdict.refused && !verdict.right,
  );
  const words = list.reduce((sum, { verdict }) => sum + verdict.words, 0) / Math.max(1, list.length);
  const times = list.map(({ answer }) => answer.milliseconds);
  return [
    name,
    list.length,
    ...(['right', 'first', 'clean', 'prefaced'] as const).map((flag) =>
      share(count(list, flag), list.length),
    ),
    share(refusals.length, list.length),
    words.toFixed(0),
    quantile(times, 0.5).toFixed(0),
  ];
}

/** The rows of a half: the totals, and for the tuned half each type. Nothing of the held half is shown but totals. */
function rowsOf(half: Half, judged: readonly Judged[]): (string | number)[][] {
  const questions = judged.filter((each) => !isApart(each));
  const ofType = (type: string) => judged.filter(({ question }) => question.type === type);
  const types = [...new Set(questions.map(({ question }) => question.type))].toSorted();
  const shown = half === 'tune' ? types : ['table-operation'];
  return [
    row(`**${half}: questions**`, questions),
    ...shown.map((type) => row(type, ofType(type))),
    ...Object.entries(apart).map(([type, name]) => row(`**${half}: ${name}**`, ofType(type))),
  ].filter(([, number]) => number !== 0);
}

/** How far an answer without a preface can be trusted, and which fields answers have. */
function notes(half: Half, judged: readonly Judged[]): string {
  const asked = judged.filter(({ question }) => question.type !== 'small-talk');
  const plain = asked.filter(({ verdict }) => !verdict.prefaced);
  const trusted = plain.filter(({ verdict, question }) => verdict.right && question.type !== 'unanswerable');
  const right = asked.filter(({ verdict, question }) => verdict.right && question.type !== 'unanswerable');
  const cited = right.filter(({ answer }) => answer.citations.some(({ quote }) => quote !== ''));
  const refusals = asked.filter(
    ({ verdict, question }) => verdict.refused && question.type === 'unanswerable',
  );
  const citing = refusals.filter(({ answer }) => answer.citations.length > 0);
  const stated = asked.filter(({ answer }) => answer.state !== undefined);
  const degraded = judged.filter(({ answer }) => answer.degraded !== '');
  return [
    `${half}: of ${plain.length} answers without a preface ${share(trusted.length, plain.length)} are right`,
    `${share(cited.length, right.length)} of the right answers have annotations`,
    `${citing.length} of ${refusals.length} right refusals have annotations`,
    `${share(stated.length, asked.length)} of the answers name their state (\`answer_kind\`)`,
    `${degraded.length} answers were made without a step.`,
  ].join('; ');
}

function byKind(judged: readonly Judged[]): string {
  const kinds = [...new Set(judged.map(({ question }) => question.kind))].toSorted();
  return table(
    head,
    kinds.map((kind) =>
      row(
        kind,
        judged.filter((each) => each.question.kind === kind && !isApart(each)),
      ),
    ),
  );
}

/** Makes the section: a table of the halves by type, what can be trusted, and the tuned half by kind of document. */
export function report(judged: readonly Judged[]): string {
  const halves = (['tune', 'held'] as const)
    .map((half) => ({ half, own: judged.filter(({ question }) => halfOf(question.id) === half) }))
    .filter(({ own }) => own.length > 0);
  const tuned = halves.find(({ half }) => half === 'tune');
  return [
    table(
      head,
      halves.flatMap(({ half, own }) => rowsOf(half, own)),
    ),
    ...halves.map(({ half, own }) => notes(half, own)),
    ...(tuned
      ? [
          `The tuned half by kind of document, without follow-ups, unanswerable questions and small talk:`,
          byKind(tuned.own),
        ]
      : []),
  ].join('\n\n');
}
