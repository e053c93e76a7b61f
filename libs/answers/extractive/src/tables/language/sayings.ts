/** Sentences of answers from tables. */
export interface Sayings {
  readonly yes: string;
  readonly no: string;
  readonly none: string;
  readonly rows: (count: number, all: number) => string;
  readonly sum: (column: string, rows: number) => string;
  readonly mean: (column: string, rows: number) => string;
  readonly median: (column: string, rows: number) => string;
  readonly extreme: (column: string, direction: 'max' | 'min', rank: number, value: string) => string;
  readonly different: (column: string) => string;
  readonly group: (direction: 'max' | 'min', sum: string | undefined) => string;
  readonly difference: (column: string) => string;
  readonly more: (count: number) => string;
  readonly skipped: (count: number) => string;
  /** Said where not all rows of the table are known. */
  readonly partial: (rows: number) => string;
  readonly not: string;
  readonly where: string;
}

const plural = (count: number) => (count === 1 ? 'row' : 'rows');
const zeilen = (count: number) => (count === 1 ? 'Zeile' : 'Zeilen');

const ordinal = (rank: number) =>
  ['', '', 'second', 'third', 'fourth', 'fifth', 'sixth'][rank] ?? `${rank}th`;

/** The sentences by the code of the language. */
export const sayings: Readonly<Record<'en' | 'de', Sayings>> = {
  en: {
    yes: 'Yes',
    no: 'No',
    none: 'None',
    rows: (count, all) => `${count} of ${all} ${plural(all)}`,
    sum: (column, rows) => `the sum of ${column} over ${rows} ${plural(rows)}`,
    mean: (column, rows) => `the mean of ${column} over ${rows} ${plural(rows)}`,
    median: (column, rows) => `the median of ${column} over ${rows} ${plural(rows)}`,
    extreme: (column, direction, rank, value) =>
      `the ${rank > 1 ? `${ordinal(rank)} ` : ''}${direction === 'max' ? 'highest' : 'lowest'} ${column}: ${value}`,
    different: (column) => `different values of ${column}`,
    group: (direction, sum) =>
      `the ${direction === 'max' ? 'highest' : 'lowest'} ${sum === undefined ? 'number of rows' : `sum of ${sum}`}`,
    difference: (column) => `the difference in ${column}`,
    more: (count) => `and ${count} more`,
    skipped: (count) => `${count} ${plural(count)} without a value ${count === 1 ? 'is' : 'are'} left out`,
    partial: (rows) => `only the ${rows} ${plural(rows)} that were found are considered`,
    not: 'not',
    where: 'where',
  },
  de: {
    yes: 'Ja',
    no: 'Nein',
    none: 'Keine',
    rows: (count, all) => `${count} von ${all} ${zeilen(all)}`,
    sum: (column, rows) => `Summe von ${column} über ${rows} ${zeilen(rows)}`,
    mean: (column, rows) => `Mittelwert von ${column} über ${rows} ${zeilen(rows)}`,
    median: (column, rows) => `Median von ${column} über ${rows} ${zeilen(rows)}`,
    extreme: (column, direction, rank, value) =>
      `${rank > 1 ? `${rank}.-` : ''}${direction === 'max' ? 'höchster' : 'niedrigster'} Wert von ${column}: ${value}`,
    different: (column) => `verschiedene Werte von ${column}`,
    group: (direction, sum) =>
      `${direction === 'max' ? 'höchste' : 'niedrigste'} ${sum === undefined ? 'Anzahl von Zeilen' : `Summe von ${sum}`}`,
    difference: (column) => `Unterschied in ${column}`,
    more: (count) => `und ${count} weitere`,
    skipped: (count) => `ohne ${count} ${zeilen(count)} ohne Wert`,
    partial: (rows) => `nur in den ${rows} gefundenen ${zeilen(rows)}`,
    not: 'nicht',
    where: 'mit',
  },
};
