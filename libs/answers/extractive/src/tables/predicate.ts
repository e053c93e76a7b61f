import type { CellValue } from './cells/cell-value.js';
import type { Ready } from './language/index.js';
import type { ColumnMention, Reading, Span } from './mentions.js';
import type { Column, Table } from './cells/table.js';

/** A condition for rows that the question names. */
export interface Predicate extends Span {
  readonly kind: 'value' | 'limit' | 'presence' | 'flag';
  readonly column: Column;
  /** The column that it is compared with. */
  readonly other?: Column;
  /** Undefined where the row does not say. */
  readonly holds: (row: number) => boolean | undefined;
  readonly isNegated: boolean;
  /** The condition for people, without its negation: `City: Linz`. */
  readonly text: string;
  /** Not all words of the cells are in the question. */
  readonly isPart: boolean;
  /** Several values, each of which is enough. */
  readonly alternatives: number;
}

export interface Predicates {
  readonly list: readonly Predicate[];
  /** Mentions of columns that only say what the conditions are about. */
  readonly used: ReadonlySet<ColumnMention>;
}

/** What conditions are made from. */
export interface PredicateContext {
  readonly reading: Reading;
  readonly table: Table;
  readonly language: Ready;
  /** The column that is asked for, if the question begins with it. */
  readonly head: ColumnMention | undefined;
}

/** The words of the question in a span, as written. */
export const writtenIn = ({ words }: Reading, { start, end }: Span) =>
  [...new Set(words.slice(start, end).map(({ start, written }) => `${start} ${written}`))]
    .map((word) => word.replace(/^\d+ /, ''))
    .join(' ');

/** Whether a cell says that something is there: not empty, not no, not zero. */
export function isThere(value: CellValue): boolean | undefined {
  if (value.kind === 'boolean') return value.is;
  if ('number' in value) return value.number > 0;
  return value.kind !== 'empty' && value.kind !== 'none';
}
