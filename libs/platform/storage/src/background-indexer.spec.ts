import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BackgroundIndexer } from './background-indexer.js';
import type { Database } from './database.js';

const buildMs = 80;
const target = { collection: 'large', dimensions: 3 };

/** A database that is `version`, with chunks for `builds` indexes, and the times of their builds. */
function databaseOf(version: string, builds: number) {
  const times: { from: number; to: number }[] = [];
  const build = async () => {
    const from = performance.now();
    await wait(buildMs);
    times.push({ from, to: performance.now() });
    return [];
  };
  const query = (sql: string): Promise<unknown[]> | unknown[] => {
    if (sql.includes('CREATE INDEX')) return build();
    if (sql.includes('version()')) return [{ version }];
    if (sql.includes('pg_try_advisory')) return [{ locked: true }];
    if (sql.includes('counted_to')) return [{ to: null, chunks: null, stored: 0 }];
    if (sql.includes('ORDER BY arrival')) {
      const isCount = sql.includes('AS chunks');
      return [{ chunks: 0, rows: !isCount && times.length < builds ? 1_000_000 : 0, last: '1' }];
    }
    return [];
  };
  const own = {
    transaction: (work: (transaction: unknown) => unknown) => work({ query }),
    runOutsideTransaction: query,
  };
  const database = { schema: 'public', sibling: () => own } as unknown as Database;
  return { database, times };
}

async function pausesOf(version: string): Promise<number[]> {
  const { database, times } = databaseOf(version, 3);
  const indexer = new BackgroundIndexer(database);
  const failures: unknown[] = [];
  indexer.onFailure = (error) => failures.push(error);
  indexer.stored(target, 1_000_000);
  await indexer.settled();
  expect(failures).toEqual([]);
  expect(times).toHaveLength(3);
  return times.slice(1).map(({ from }, index) => from - (times[index]?.to ?? 0));
}

it('leaves the one session of the embedded database to others between two indexes', async () => {
  // A timer may fire a millisecond early.
  for (const pause of await pausesOf('PostgreSQL 17 (PGlite)'))
    expect(pause).toBeGreaterThan(2 * buildMs - 5);
});

it('does not wait between two indexes on a server', async () => {
  expect(Math.min(...(await pausesOf('PostgreSQL 17')))).toBeLessThan(2 * buildMs);
});
