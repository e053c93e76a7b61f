import type { PoolClient, QueryResultRow } from 'pg';

/** Text as Postgres takes it: without NUL characters and lone surrogates, which extracted PDF text may hold. */
export function toPostgresText(text: string): string {
  return text.replaceAll('\0', '').replaceAll(/\p{Surrogate}/gu, '\u{FFFD}');
}

/** JSON for a jsonb parameter, every string in it cleaned as by {@link toPostgresText}. */
export function toPostgresJson(value: unknown): string {
  return JSON.stringify(cleanStrings(value));
}

function cleanStrings(value: unknown): unknown {
  if (typeof value === 'string') return toPostgresText(value);
  if (Array.isArray(value)) return value.map(cleanStrings);
  if (value instanceof Date || value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, entry]) => [toPostgresText(key), cleanStrings(entry)]);
  return Object.fromEntries(entries) as unknown;
}

/** The value of a parameter; a Buffer is sent in Postgres' binary format of the parameter's type. */
export type SqlValue = string | number | boolean | Date | Buffer | null | readonly (string | number | null)[];

/** One open transaction, valid only until the function it was given to ends. Bound strings are cleaned. */
export class Transaction {
  constructor(readonly client: PoolClient) {}

  /** Runs one statement with bound parameters; answers its rows. */
  async query<Row extends object>(text: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    const { rows } = await this.client.query<Row & QueryResultRow>(text, values.map(clean));
    return rows;
  }

  /** Runs one statement with bound parameters; answers how many rows it touched. */
  async execute(text: string, values: readonly SqlValue[] = []): Promise<number> {
    const { rowCount } = await this.client.query(text, values.map(clean));
    return rowCount ?? 0;
  }
}

function clean(value: SqlValue): SqlValue {
  if (typeof value === 'string') return toPostgresText(value);
  if (!Array.isArray(value)) return value;
  return value.map((item: string | number | null) =>
    typeof item === 'string' ? toPostgresText(item) : item,
  );
}

/** Collects the bound parameters of a statement that is put together from parts. */
export class SqlParameters {
  readonly values: SqlValue[] = [];

  /** Adds a value and answers its placeholder, `$1` first. */
  add(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** Quotes a name that cannot be a bound parameter: schemas and indexes. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
