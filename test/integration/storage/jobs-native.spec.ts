import { randomUUID } from 'node:crypto';
import { JobDocuments, JobsRepository, openMigratedDatabase, type Database } from '#platform/storage';
import { findProgramsWithVector, startNativePostgres, type NativePostgres } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const found = findProgramsWithVector();
const total = 300;

/** PGlite runs one transaction at a time. */
describe.skipIf('reason' in found)('a job on a Postgres server', () => {
  let postgres: NativePostgres;
  let database: Database;

  beforeAll(async () => {
    postgres = await startNativePostgres('programs' in found ? found.programs : '');
    database = await openMigratedDatabase({ connectionString: postgres.url, maxConnections: 8 });
  });
  afterAll(async () => {
    await database?.close();
    await postgres?.stop();
  });

  it('gives each document to one of the processes that work at the same time, and ends once', async () => {
    const jobs = new JobsRepository<object, object>(database);
    const documents = new JobDocuments<object, object, { at: number }>(database, 60_000);
    const job = (await jobs.create({ progress: {}, request: {}, weights: Array(total).fill(1) }))!;
    const stored: number[] = [];
    const conclude = (outcomes: readonly unknown[]) => {
      expect(outcomes).toHaveLength(total);
      return { state: 'succeeded' as const };
    };
    const renewals: Promise<boolean>[] = [];
    /** Works until nothing is left; every third claim is given back. */
    const work = async (): Promise<number> => {
      const share = { job: job.id, owner: randomUUID() };
      let ended: { position: number; outcome: { stored: { at: number } } }[] = [];
      for (let turn = 1; ; turn += 1) {
        const advance = await documents.advance(share, { ended, maxWeight: 16 }, conclude);
        if (advance.state !== 'open') return advance.state === 'ended' ? 1 : 0;
        stored.push(...ended.map(({ position }) => position));
        ended = advance.claimed.map(({ position }) => ({ position, outcome: { stored: { at: position } } }));
        const positions = ended.map(({ position }) => position);
        // Its answer comes while the next claim is made.
        renewals.push(documents.renew(share, positions, {}));
        if (turn % 3 > 0) continue;
        ended = [];
        await documents.release(share);
      }
    };
    const ends = await Promise.all(Array.from({ length: 6 }, work));
    await Promise.all(renewals);
    expect(ends.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(new Set(stored).size).toBe(stored.length);
    expect(await jobs.find(job.id)).toMatchObject({ state: 'succeeded', endedDocuments: total });
  });
});
