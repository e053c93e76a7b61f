import type { PoolClient, QueryResultRow } from 'pg';

/** What a parameter may be; a Buffer travels in Postgres' binary format of the parameter's type. */
export type SqlValue = string | number | boolean | Date | Buffer | null | readonly (string | number | null)[];

/** One open transaction. Valid only until the function it was given to ends. */
export class Transaction {
  constructor(readonly client: PoolClient) {}

  /** Runs one statement with bound parameters; answers its rows. */
  async query<Row extends object>(text: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    const { rows } = await this.client.query<Row & QueryResultRow>(text, [...values]);
    return rows;
  }

  /** Runs one statement with bound parameters; answers how many rows it touched. */
  async execute(text: string, values: readonly SqlValue[] = []): Promise<number> {
    const { rowCount } = await this.client.query(text, [...values]);
    return rowCount ?? 0;
  }
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
