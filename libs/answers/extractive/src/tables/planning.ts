import type { Ready } from './language/index.js';
import type { ColumnMention, Reading } from './mentions.js';
import type { Predicate, Predicates } from './predicate.js';
import type { Column, Table } from './cells/table.js';

/** What is computed for a question. */
export type Operation =
  | { readonly kind: 'rows' }
  | { readonly kind: 'cell' }
  | { readonly kind: 'count' }
  | { readonly kind: 'different'; readonly column: Column }
  | { readonly kind: 'sum' | 'mean' | 'median'; readonly column: Column }
  /** The share of the rows that meet the condition. */
  | { readonly kind: 'share' }
  | {
      readonly kind: 'extreme';
      readonly column: Column;
      readonly direction: 'max' | 'min';
      readonly count: number;
      /** The place of the first shown row, from 1. */
      readonly rank: number;
    }
  /** The first or the last row, in the order of the table. */
  | { readonly kind: 'end'; readonly direction: 'max' | 'min'; readonly count: number }
  /** The value of `column` that most rows have, or whose rows have the largest sum of `sum`. */
  | {
      readonly kind: 'group';
      readonly column: Column;
      readonly sum?: Column;
      readonly direction: 'max' | 'min';
    }
  | { readonly kind: 'difference'; readonly column: Column }
  /** Whether the first named row has more (or less) than the second one. */
  | { readonly kind: 'is-more'; readonly column: Column; readonly isHigh: boolean }
  | { readonly kind: 'yes-no' };

/** How a question is answered from a table. */
export interface Plan {
  readonly operation: Operation;
  /** Columns that are asked for; empty for the names of the rows. */
  readonly targets: readonly Column[];
  readonly conditions: readonly Predicate[];
  readonly reading: Reading;
  /** Words of the question that the table explains, less those that it does not. */
  readonly coverage: number;
  /** 0–1: how literally the question names columns and cells. */
  readonly certainty: number;
}

export interface Planning {
  readonly reading: Reading;
  readonly table: Table;
  readonly language: Ready;
  readonly predicates: Predicates;
  /** The column that the question begins with: `which supplier`. */
  readonly head: ColumnMention | undefined;
  /** Mentions of columns that are not conditions. */
  readonly free: readonly ColumnMention[];
}
