import type { TableSource } from '../cells/table.js';

/** A column of a generated table; the row's values so far may be used. */
export type MakeCell = (random: Random, row: number) => string;

/** What a generated question expects. */
export type Expected =
  | { readonly kind: 'rows'; readonly rows: readonly number[] }
  | { readonly kind: 'cell' | 'value'; readonly value: string }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'yes-no'; readonly is: boolean }
  | { readonly kind: 'refusal' };

export interface Generated {
  readonly question: string;
  readonly operation: string;
  readonly expected: Expected;
  readonly source: TableSource;
}

/** A table with its kinds of questions. Each asks with a random row or value, or not at all where it makes no sense. */
export interface Domain {
  readonly about: string;
  readonly columns: Readonly<Record<string, MakeCell>>;
  readonly questions: Readonly<Record<string, (table: Data) => Asked | undefined>>;
}

interface Asked {
  /** Paraphrases. */
  readonly ask: readonly string[];
  readonly expect: Expected;
}

/** Numbers from a seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.int(0, items.length - 1)]!;
  }
}

/** The rows of a generated table, with the ways to compute what a question expects. */
export class Data {
  readonly rows: readonly Readonly<Record<string, string>>[];

  constructor(
    { columns }: Domain,
    readonly random: Random,
  ) {
    const count = random.pick([10, 12, 18, 30, 60, 120]);
    this.rows = Array.from({ length: count }, (_row, index) =>
      Object.fromEntries(Object.entries(columns).map(([name, make]) => [name, make(random, index)])),
    );
  }

  /** A cell of a random row. */
  some(column: string): string {
    return this.random.pick(this.rows)[column]!;
  }

  where(test: (row: Readonly<Record<string, string>>) => boolean): number[] {
    return this.rows.flatMap((row, index) => (test(row) ? [index] : []));
  }

  is(column: string, value: string): number[] {
    return this.where((row) => row[column] === value);
  }

  numbers(column: string, rows: readonly number[] = this.where(() => true)): number[] {
    return rows.map((row) => numberOf(this.rows[row]![column]!));
  }

  sum(column: string, rows?: readonly number[]): number {
    return this.numbers(column, rows).reduce((total, number) => total + number, 0);
  }

  /** The rows with the largest or the smallest value. Dates are compared as texts. */
  best(column: string, direction: 'max' | 'min', rows = this.where(() => true)): number[] {
    const sign = direction === 'max' ? 1 : -1;
    const order = (row: number) => sortable(this.rows[row]![column]!);
    const sorted = rows.toSorted((left, right) => sign * compare(order(right), order(left)));
    return rows.filter((row) => compare(order(row), order(sorted[0]!)) === 0);
  }

  /** The values of a column that most rows have. */
  commonest(column: string): string[] {
    const counts = new Map<string, number>();
    for (const row of this.rows) counts.set(row[column]!, (counts.get(row[column]!) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return [...counts].flatMap(([value, count]) => (count === most ? [value] : []));
  }

  /** Two different rows. */
  pair(): [number, number] {
    const first = this.random.int(0, this.rows.length - 2);
    return [first, this.random.int(first + 1, this.rows.length - 1)];
  }

  cell(row: number, column: string): string {
    return this.rows[row]![column]!;
  }
}

/** A number as the domains write it: `1,299.00`, `129,50`, `420 €`. */
export function numberOf(text: string): number {
  const digits = text.replaceAll(/[^\d.,-]/g, '');
  const isComma = /,\d{1,2}$/.test(digits);
  return Number(isComma ? digits.replaceAll('.', '').replace(',', '.') : digits.replaceAll(',', ''));
}

function sortable(text: string): number | string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return text;
  const [, day, month, year] = /^(\d\d)\.(\d\d)\.(\d{4})$/.exec(text) ?? [];
  if (year !== undefined) return `${year}-${month}-${day}`;
  const [, hours = '0', minutes = '0'] = /^(?:(\d+) h)? ?(?:(\d+) min)?$/.exec(text) ?? [];
  if (/\d (?:h|min)/.test(text)) return Number(hours) * 60 + Number(minutes);
  return /^\d\d:\d\d$/.test(text) ? text : numberOf(text);
}

const compare = (left: number | string, right: number | string) => (left < right ? -1 : left > right ? 1 : 0);

export const rows = (list: readonly number[]): Expected => ({ kind: 'rows', rows: list });
export const number = (value: number): Expected => ({ kind: 'number', number: value });
export const cell = (value: string): Expected => ({ kind: 'cell', value });
export const yesNo = (is: boolean): Expected => ({ kind: 'yes-no', is });
export const refusal: Expected = { kind: 'refusal' };

/** A name of two parts that no other row has. */
export const uniqueName =
  (first: readonly string[], second: readonly string[]): MakeCell =>
  (_random, row) =>
    `${first[row % first.length]} ${second[Math.floor(row / first.length) % second.length]}`;

export const dateBetween =
  (from: number, to: number): MakeCell =>
  (random) =>
    `${random.int(from, to)}-${pad(random.int(1, 12))}-${pad(random.int(1, 28))}`;

export const pad = (value: number) => String(value).padStart(2, '0');

/** Tables of all domains with one question of each kind for each table. */
export function generate(
  domains: readonly Domain[],
  { seed, tables }: { seed: number; tables: number },
): Generated[] {
  return domains.flatMap((domain, index) =>
    Array.from({ length: tables }).flatMap((_table, round) => {
      const random = new Random(seed + 1000 * index + round);
      const data = new Data(domain, random);
      const source: TableSource = { rows: data.rows.map(rowText), about: domain.about, isWhole: true };
      return Object.entries(domain.questions).flatMap(([operation, make]) => {
        const asked = make(data);
        return asked ? [{ question: random.pick(asked.ask), operation, expected: asked.expect, source }] : [];
      });
    }),
  );
}

/** A row as the ingestion writes it. */
function rowText(row: Readonly<Record<string, string>>): string {
  return Object.entries(row)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ');
}
