import { monthOf } from './cells/date-value.js';
import { compute } from './compute.js';
import { languageOf, type Ready } from './language/index.js';
import { planFor } from './plan.js';
import type { Plan } from './planning.js';
import { readQuestion } from './read-question.js';
import { tableOfRows, type Table, type TableSource } from './cells/table.js';
import { fold, wordsOf, type Word } from './cells/words.js';
import { isOneCell, writeTableAnswer } from './write-table-answer.js';

/** An answer that was looked up or computed in a table. */
export interface TableAnswer {
  /** Markdown: the value in bold, what it is, and the rows as a table. */
  readonly text: string;
  /** The value alone, e.g. where a number only is asked for. */
  readonly value: string;
  /** Index of the table among the given ones. */
  readonly table: number;
  /** Indices of the rows of this table that the answer rests on. */
  readonly rows: readonly number[];
  /** 0–1: how literally the question names columns and cells of the table. */
  readonly certainty: number;
  /** The answer may change with rows of the table that were not given. */
  readonly isPartial: boolean;
}

/**
 * Answers a question from one of several tables: the one that explains most of its words. Undefined where the question is
 * not about a table, or is not understood completely: each word of it has to be a cell, a header, a synonym of a header,
 * an operation or a word without an own meaning.
 */
export function answerFromTables(question: string, sources: readonly TableSource[]): TableAnswer | undefined {
  const language = languageOf(question);
  const words = wordsOf(question);
  const answers = sources.flatMap((source, index) => {
    const table = mayBeAbout(words, source, language) ? tableOfRows(source) : undefined;
    if (!table) return [];
    const reading = readQuestion(question, table, language);
    const plan = planFor(reading, table, language);
    const result = plan && compute(plan, table);
    if (!plan || !result) return [];
    const isPartial = !table.isWhole && !isOneCell(plan, result);
    if (isPartial && table.rows.length < minRowsOfPart) return [];
    // That no row is found says something only about a whole table, and about a literal question.
    const isEmpty = result.rows.length === 0;
    if (isEmpty && (isPartial || plan.certainty < 0.95 || namesRow(plan, table))) return [];
    const { text, value } = writeTableAnswer(plan, result, table, language.code);
    const rows = result.rows.map((row) => table.rows[row]!.source);
    return [
      {
        answer: { text, value, table: index, rows, certainty: plan.certainty, isPartial },
        coverage: plan.coverage,
      },
    ];
  });
  const found = answers.filter(({ answer }) => answer.rows.length > 0);
  const [best] = (found.length > 0 ? found : answers).toSorted(
    (left, right) => right.coverage - left.coverage || left.answer.table - right.answer.table,
  );
  return best?.answer;
}

/** A smaller part of a table says too little about it. */
const minRowsOfPart = 3;
/** Letters that the forms of a word have in common. */
const sharedLetters = 4;

/** Whether a table has all content words of a question but one. It saves the time to read tables about other things. */
function mayBeAbout(words: readonly Word[], { rows, about }: TableSource, { known }: Ready): boolean {
  const text = fold(`${about}\n${rows.join('\n')}`);
  const missing = words.filter(({ stem, text: word }) => {
    const isKnown = known.has(stem) || monthOf(word) !== -1 || /^\d|^\p{P}|^.$/u.test(word);
    return !isKnown && !text.includes(stem.slice(0, sharedLetters));
  });
  return missing.length < 2;
}

/** A row that does not exist has no cell. */
function namesRow({ conditions }: Plan, { labels }: Table): boolean {
  return conditions.some(
    ({ kind, column, isNegated }) => kind === 'value' && !isNegated && labels.includes(column),
  );
}
