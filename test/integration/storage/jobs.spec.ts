import { JobsRepository } from '#storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStorage, type StorageFixture } from './storage-fixture.js';

const failure = {
  code: 'internal_error',
  status: 500,
  type: 'server_error',
  message: 'gone',
  param: null,
} as const;

describe('JobsRepository', () => {
  let storage: StorageFixture;
  let jobs: JobsRepository<{ stage: string }>;

  beforeAll(async () => {
    storage = await startStorage();
    jobs = new JobsRepository(storage.database);
  });

  afterAll(() => storage?.stop());

  it('follows a job from its start to its end', async () => {
    const job = await jobs.create({ stage: 'reading' });
    expect(job).toMatchObject({
      state: 'queued',
      progress: { stage: 'reading' },
      error: null,
      finishedAt: null,
    });
    expect(await jobs.report(job.id, { stage: 'embedding' })).toBe(true);
    expect(await jobs.find(job.id)).toMatchObject({ state: 'running', progress: { stage: 'embedding' } });
    expect(await jobs.finish(job.id, 'succeeded', { progress: { stage: 'done' } })).toBe(true);
    const ended = await jobs.find(job.id);
    expect(ended).toMatchObject({ state: 'succeeded', progress: { stage: 'done' } });
    expect(Date.parse(ended?.finishedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(job.createdAt));
  });

  it('lets the first end count', async () => {
    const { id } = await jobs.create({ stage: 'reading' });
    expect(await jobs.finish(id, 'cancelled')).toBe(true);
    expect(await jobs.report(id, { stage: 'embedding' })).toBe(false);
    expect(await jobs.finish(id, 'succeeded')).toBe(false);
    expect(await jobs.find(id)).toMatchObject({ state: 'cancelled', progress: { stage: 'reading' } });
  });

  it('fails the jobs of a process that died', async () => {
    const { id } = await jobs.create({ stage: 'embedding' });
    expect(await jobs.failAbandoned(3_600_000, failure)).toBe(0);
    expect(await jobs.failAbandoned(0, failure)).toBeGreaterThan(0);
    expect(await jobs.find(id)).toMatchObject({ state: 'failed', error: failure });
  });

  it('gives the jobs of a process that died to another one, a few times', async () => {
    const { id } = await jobs.create({ stage: 'embedding' }, { files: ['a'] });
    const bounds = { limit: 5, maxAttempts: 3 };
    expect(await jobs.claimAbandoned(3_600_000, bounds)).toEqual([]);
    await jobs.release(id);
    const claimed = (epoch: number) => [{ id, request: { files: ['a'] }, epoch }];
    expect(await jobs.claimAbandoned(3_600_000, bounds)).toEqual(claimed(1));
    // A release is no failed attempt, so two more are left.
    for (const expected of [claimed(2), claimed(3), []])
      expect(await jobs.claimAbandoned(-1_000, bounds)).toEqual(expected);
    // A process that lost the job to another one hears of it.
    expect(await jobs.keep(id, 2)).toBe(false);
    expect(await jobs.report(id, { stage: 'storing' }, 2)).toBe(false);
    expect(await jobs.keep(id, 3)).toBe(true);
    expect(await jobs.failAbandoned(-1_000, failure, 3)).toBeGreaterThan(0);
    expect(await jobs.find(id)).toMatchObject({ state: 'failed' });
    expect(await jobs.keep(id, 3)).toBe(false);
  });

  it('sets a job aside, which nothing but a resume takes up again', async () => {
    const { id } = await jobs.create({ stage: 'embedding' }, { files: ['a'] });
    expect(await jobs.resume(id)).toBeUndefined();
    expect(await jobs.pause(id)).toBe(true);
    expect(await jobs.pause(id)).toBe(false);
    expect(await jobs.find(id)).toMatchObject({ state: 'paused', finishedAt: null });
    expect(await jobs.keep(id)).toBe(false);
    expect(await jobs.report(id, { stage: 'storing' })).toBe(false);
    expect(await jobs.claimAbandoned(-1_000, { limit: 5, maxAttempts: 3 })).toEqual([]);
    await jobs.failAbandoned(-1_000, failure);
    expect(await jobs.resume(id)).toEqual({ id, request: { files: ['a'] }, epoch: 1 });
    expect(await jobs.find(id)).toMatchObject({ state: 'queued' });
    expect(await jobs.keep(id)).toBe(false);
    expect(await jobs.report(id, { stage: 'storing' }, 1)).toBe(true);
    await jobs.finish(id, 'succeeded');
    expect(await jobs.pause(id)).toBe(false);
    expect(await jobs.find(id)).toMatchObject({ state: 'succeeded' });
  });

  it('ends a paused job when it is cancelled, and forgets one after a month', async () => {
    const [cancelled, old] = [await jobs.create({ stage: 'a' }, {}), await jobs.create({ stage: 'b' }, {})];
    for (const { id } of [cancelled, old]) await jobs.pause(id);
    expect(await jobs.finish(cancelled.id, 'cancelled')).toBe(true);
    expect(await jobs.resume(cancelled.id)).toBeUndefined();
    expect(await jobs.deleteOld()).toBe(0);
    await storage.database.transaction((transaction) =>
      transaction.execute(`UPDATE ingest_jobs SET updated_at = now() - interval '31 days' WHERE id = $1`, [
        old.id,
      ]),
    );
    expect(await jobs.deleteOld()).toBe(1);
  });

  it('forgets jobs that ended long ago', async () => {
    const { id } = await jobs.create({ stage: 'done' });
    await jobs.finish(id, 'succeeded');
    expect(await jobs.deleteOld()).toBe(0);
    await storage.database.transaction((transaction) =>
      transaction.execute(`UPDATE ingest_jobs SET finished_at = now() - interval '31 days' WHERE id = $1`, [
        id,
      ]),
    );
    expect(await jobs.deleteOld()).toBe(1);
    expect(await jobs.find(id)).toBeUndefined();
  });

  it('lists the newest first and knows no others', async () => {
    const { id } = await jobs.create({ stage: 'newest' });
    expect((await jobs.list(1)).map((job) => job.id)).toEqual([id]);
    expect(await jobs.find('unknown')).toBeUndefined();
  });
});
