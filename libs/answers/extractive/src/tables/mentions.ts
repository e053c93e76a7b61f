import type { Asked, Comparison, Cue } from './language/lexicon.js';
import type { Column } from './cells/table.js';
import type { Word } from './cells/words.js';

/** A part of the question, as indices of its words; `end` is excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A cell, or words of cells, that the question names. */
export interface ValueMention extends Span {
  readonly kind: 'value';
  /** The rows that match, by the index of the column. */
  readonly rows: ReadonlyMap<number, ReadonlySet<number>>;
  /** The question has all words of the cells. */
  readonly isWhole: boolean;
  /** A prefix of the word negates it: `unpaid`. */
  readonly isNegated: boolean;
  readonly isTypo: boolean;
}

/** A header that the question names. */
export interface ColumnMention extends Span {
  readonly kind: 'column';
  /** The columns that it may mean, the likeliest first. */
  readonly columns: readonly Column[];
  readonly by: 'header' | 'part' | 'concept' | 'typo';
  readonly concept?: string;
  /** An adjective with its degree, such as `cheaper`. */
  readonly adjective?: {
    readonly form: 'positive' | 'comparative' | 'superlative';
    readonly isHigh: boolean;
  };
}

/** A range of numbers or of time that the question names. */
export interface LimitMention extends Span {
  readonly kind: 'number' | 'date' | 'month';
  readonly comparison: Comparison;
  /** Numbers, or milliseconds; of a month its number from 0. */
  readonly from: number;
  readonly to: number;
  /** The unit as written; empty without one. */
  readonly unit: string;
  /** A year without a month or a day. */
  readonly isYear: boolean;
  /** The comparison is said, not only meant. */
  readonly isSaid: boolean;
  /** An adjective in the comparison: `older than 40`. */
  readonly adjective?: ColumnMention;
}

/** An amount that is present or not: `in stock`. */
export interface PresenceMention extends Span {
  readonly kind: 'presence';
  readonly column: Column;
  readonly isPresent: boolean;
}

/** A comparison of two columns: `below the reorder level`. */
export interface ComparedColumns extends Span {
  readonly comparison: Exclude<Comparison, 'between'>;
  readonly left: Column;
  readonly right: Column;
}

/** `highest`, `first`, or a superlative. */
export interface ExtremeMention extends Span {
  readonly kind: 'extreme';
  readonly direction: 'max' | 'min';
  /** About time: `first`, `latest`. */
  readonly isTime: boolean;
  readonly columns: readonly Column[];
  /** The word says nothing about the column: `highest`. */
  readonly isGeneral: boolean;
  /** Number of rows that are asked for. */
  readonly count: number;
  /** The place in the order, from 1: 2 of `second highest`. */
  readonly rank: number;
}

/** What a question over a table contains. */
export interface Reading {
  readonly words: readonly Word[];
  readonly asked: (Span & { readonly meaning: Asked }) | undefined;
  readonly isYesNo: boolean;
  readonly cues: ReadonlyMap<Cue, Span>;
  readonly values: readonly ValueMention[];
  readonly columns: readonly ColumnMention[];
  readonly limits: readonly LimitMention[];
  readonly presences: readonly PresenceMention[];
  readonly compared: ComparedColumns | undefined;
  readonly extremes: readonly ExtremeMention[];
  readonly negations: readonly Span[];
  /** Words that mean a row of the table. */
  readonly subjects: readonly number[];
  /** Words without a known meaning. */
  readonly unknown: readonly number[];
  readonly marks: Marks;
}

/** Which words are explained already, and by what. */
export class Marks {
  readonly #by: (string | undefined)[];

  constructor(readonly length: number) {
    this.#by = Array.from({ length });
  }

  /** Marks the words of a span that is free. */
  take({ start, end }: Span, by: string): boolean {
    if (!this.isFree(start, end)) return false;
    for (let at = start; at < end; at += 1) this.#by[at] = by;
    return true;
  }

  isFree(start: number, end = start + 1): boolean {
    if (end > this.length) return false;
    for (let at = start; at < end; at += 1) if (this.#by[at] !== undefined) return false;
    return true;
  }

  at(index: number): string | undefined {
    return this.#by[index];
  }
}
