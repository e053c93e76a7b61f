import type { ColumnKind } from '../cells/table.js';

/** A meaning that headers and questions name with different words. Lists of words are separated by spaces. */
export interface Concept {
  readonly name: string;
  /** Words of headers with this meaning, the most typical first. */
  readonly headers: string;
  /** Words of questions that ask for such a column. */
  readonly asked: string;
  /** Adjectives for a large value, without endings. */
  readonly high?: string;
  /** Adjectives for a small value. */
  readonly low?: string;
  readonly kinds?: readonly ColumnKind[];
  /** Words of which the question must have one. */
  readonly needs?: string;
  /** Dimension of the units of such columns; `currency` for money. */
  readonly dimension?: string;
}

/** Comparisons of a value with a number or a date. */
export type Comparison = '>' | '>=' | '<' | '<=' | '=' | 'between';

/** What is done with the rows. */
export type Cue =
  | 'count'
  | 'amount'
  | 'sum'
  | 'mean'
  | 'different'
  | 'compare'
  | 'difference'
  | 'list'
  | 'rank'
  | 'times'
  | 'share'
  | 'median';

/** What a question word asks for. */
export type Asked = 'person' | 'date' | 'place' | 'which' | 'what' | 'count' | 'amount' | 'degree' | 'why';

/** The words of one language for questions about tables. */
export interface Language {
  readonly code: 'en' | 'de';
  /** Words that only this language has, by which a question is recognized. */
  readonly markers: string;
  readonly concepts: readonly Concept[];
  /** Phrases with their meaning, the longer ones first. */
  readonly asked: readonly (readonly [phrase: string, meaning: Asked])[];
  readonly cues: readonly (readonly [phrase: string, cue: Cue])[];
  readonly comparisons: readonly (readonly [phrase: string, comparison: Comparison])[];
  /** Comparisons that follow their number: `5 or more`. */
  readonly comparisonsAfter: readonly (readonly [phrase: string, comparison: Comparison])[];
  /** Superlatives and comparatives of an irregular form, with the adjective. */
  readonly irregular: Readonly<Record<string, readonly [adjective: string, degree: Degree]>>;
  /** Extremes without an own meaning: `highest`, `most`. */
  readonly maxima: string;
  readonly minima: string;
  readonly firsts: string;
  readonly lasts: string;
  readonly negations: string;
  readonly exceptions: readonly string[];
  /** Negated forms of words: `unpaid`. */
  readonly negativePrefix: RegExp;
  readonly than: string;
  readonly and: string;
  readonly or: string;
  readonly numbers: Readonly<Record<string, number>>;
  /** Words for the place in an order, with it: `second` highest. */
  readonly ordinals: Readonly<Record<string, number>>;
  /** Nouns that add nothing to the column before them: mirror `size`. */
  readonly measures: string;
  /** Words for what is left of an amount, and for headers of what is taken of it. */
  readonly rest: string;
  readonly taken: string;
  /** Words for a row of any table. */
  readonly rowNouns: string;
  /** Words for persons. */
  readonly personNouns: string;
  /** Verbs, articles, prepositions and other words that do not change what is asked. */
  readonly fillers: string;
  /** Words that begin a condition which no cell states: `what happens if …`. */
  readonly conditions: string;
  /** Words for something that was named before. */
  readonly pronouns: string;
  /** Beginnings of questions that yes or no answers. */
  readonly yesNo: string;
  /** Values that are present (`in stock`, `available`) and absent (`out of stock`, `sold out`) amounts. */
  readonly present: readonly string[];
  readonly absent: readonly string[];
}

export type Degree = 'comparative' | 'superlative';
