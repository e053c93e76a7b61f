import { randomUUID } from 'node:crypto';
import { JobDocuments, JobsRepository, type DocumentOutcome } from '#platform/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStorage, type StorageFixture } from './storage-fixture.js';

const failure = {
  code: 'internal_error',
  status: 500,
  type: 'server_error',
  message: 'gone',
  param: null,
} as const;

interface Stage {
  stage: string;
}
interface Files {
  files: string[];
}
interface Stored {
  name: string;
}

describe('jobs', () => {
  let storage: StorageFixture;
  let jobs: JobsRepository<Stage, Files>;
  let documents: JobDocuments<Stage, Files, Stored>;
  /** Each document of a process counts as lost at once. */
  let impatient: JobDocuments<Stage, Files, Stored>;

  beforeAll(async () => {
    storage = await startStorage();
    jobs = new JobsRepository(storage.database);
    documents = new JobDocuments(storage.database, 3_600_000);
    impatient = new JobDocuments(storage.database, -1_000);
  });

  afterAll(() => storage?.stop());

  const request = { files: ['a'] };
  const create = async (weights = [1]) =>
    (await jobs.create({ progress: { stage: 'new' }, request, weights }))!;
  const shareOf = (job: string) => ({ job, owner: randomUUID() });
  const nothing = { ended: [], maxWeight: 0 };
  const stored = (position: number) => ({ position, outcome: { stored: { name: `${position}` } } });
  const conclude = (outcomes: DocumentOutcome<Stored>[]) => ({
    state: 'succeeded' as const,
    progress: {
      stage: outcomes.map((outcome) => ('stored' in outcome ? outcome.stored.name : 'no')).join(' '),
    },
  });
  const claim = async (share: { job: string; owner: string }, maxWeight = 16, from = documents) => {
    const advance = await from.advance(share, { ended: [], maxWeight }, conclude);
    return advance.state === 'open' ? advance.claimed.map(({ position }) => position) : advance.state;
  };
  const exec = (text: string, id: string) => storage.database.execute(text, [id]);

  it('follows a job from its start to its end', async () => {
    const job = await create([1, 1]);
    expect(job).toMatchObject({ state: 'queued', progress: { stage: 'new' }, error: null, finishedAt: null });
    const share = shareOf(job.id);
    expect(await claim(share)).toEqual([0, 1]);
    expect(await documents.renew(share, [0, 1], { stage: 'embedding' })).toBe(true);
    expect(await jobs.find(job.id)).toMatchObject({ state: 'running', progress: { stage: 'embedding' } });
    const { state } = await documents.advance(share, { ended: [stored(1)], maxWeight: 0 }, conclude);
    expect(state).toBe('open');
    expect(await jobs.find(job.id)).toMatchObject({ documents: 2, endedDocuments: 1 });
    const last = { ended: [stored(0)], maxWeight: 16 };
    expect(await documents.advance(share, last, conclude)).toEqual({ state: 'ended' });
    const ended = await jobs.find(job.id);
    expect(ended).toMatchObject({ state: 'succeeded', progress: { stage: '0 1' } });
    expect(Date.parse(ended?.finishedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(job.createdAt));
    expect(await documents.advance(share, last, conclude)).toEqual({ state: 'unwanted' });
  });

  it('shares the documents of a job, by their weight, and counts each once', async () => {
    const { id } = await create([1, 16, 1, 1]);
    const [first, second] = [shareOf(id), shareOf(id)];
    expect(await claim(first)).toEqual([0]);
    expect(await claim(second, 8)).toEqual([]);
    expect(await claim(second)).toEqual([1]);
    expect(await claim(first, 1)).toEqual([2]);
    expect(await documents.findJobs({ ids: [] }, 5)).toEqual([{ id, client: '', request, documents: 4 }]);
    expect(await documents.findJobs({ ids: [id] }, 5)).toEqual([]);
    expect(await claim(second)).toEqual([3]);
    expect(await documents.findJobs({ ids: [] }, 5)).toEqual([]);
    // Only the owner of a document ends it, once.
    const all = [0, 1, 2, 3].map(stored);
    await documents.advance(first, { ended: all, maxWeight: 0 }, conclude);
    await documents.advance(first, { ended: all, maxWeight: 0 }, conclude);
    expect(await jobs.find(id)).toMatchObject({ endedDocuments: 2, state: 'running' });
    const { state } = await documents.advance(second, { ended: all, maxWeight: 0 }, conclude);
    expect(state).toBe('ended');
    const left = await storage.database.query('SELECT FROM ingest_job_documents WHERE job_id = $1', [id]);
    expect(left).toEqual([]);
  });

  it('gives the documents of a process that died to another one, the last time for an attempt that it begins', async () => {
    const { id } = await create();
    const attempts = async (share = shareOf(id)) => {
      const advance = await impatient.advance(share, { ended: [], maxWeight: 16 }, conclude);
      return advance.state === 'open' && advance.claimed[0]?.attempts;
    };
    expect(await attempts()).toBe(0);
    const lost = shareOf(id);
    expect(await attempts(lost)).toBe(1);
    // A document that is given back was no failed attempt.
    await documents.release(lost);
    expect(await claim(shareOf(id), 16, impatient)).toEqual([0]);
    const third = shareOf(id);
    expect(await attempts(third)).toBe(2);
    expect(await attempts(third)).toBe(2);
    await impatient.beginLastAttempt(third, 0);
    expect(await attempts()).toBe(3);
    // The process that lost the document does not end it.
    const late = { ended: [stored(0)], maxWeight: 0 };
    expect(await documents.advance(lost, late, conclude)).toMatchObject({ state: 'open' });
    await jobs.finish(id, { state: 'cancelled' });
  });

  it('keeps the documents of a process that renews them', async () => {
    const { id } = await create([1, 1]);
    const share = shareOf(id);
    expect(await claim(share)).toEqual([0, 1]);
    await exec(
      `UPDATE ingest_job_documents SET renewed_at = now() - interval '2 hours' WHERE job_id = $1`,
      id,
    );
    await documents.renew(share, [0], { stage: 'embedding' });
    expect(await claim(shareOf(id))).toEqual([1]);
    await jobs.finish(id, { state: 'cancelled' });
  });

  it('lets the first end count', async () => {
    const { id } = await create();
    const share = shareOf(id);
    await claim(share);
    expect(await jobs.finish(id, { state: 'cancelled' })).toEqual(request);
    expect(await documents.renew(share, [0], { stage: 'embedding' })).toBe(false);
    expect(await documents.advance(share, { ended: [stored(0)], maxWeight: 1 }, conclude)).toEqual({
      state: 'unwanted',
    });
    expect(await jobs.finish(id, { state: 'failed' })).toBeUndefined();
    expect(await jobs.find(id)).toMatchObject({ state: 'cancelled', progress: { stage: 'new' } });
  });

  it('sets a job aside, which nothing but a resume takes up again', async () => {
    const { id } = await create([1, 1]);
    const share = shareOf(id);
    expect(await claim(share, 1)).toEqual([0]);
    expect(await jobs.resume(id)).toBe(false);
    expect(await jobs.pause(id)).toBe(true);
    expect(await jobs.pause(id)).toBe(false);
    expect(await jobs.find(id)).toMatchObject({ state: 'paused', finishedAt: null });
    expect(await documents.renew(share, [0], { stage: 'storing' })).toBe(false);
    expect(await documents.findJobs({ ids: [] }, 5)).toEqual([]);
    // What has ended meanwhile counts.
    expect(await documents.advance(share, { ended: [stored(0)], maxWeight: 1 }, conclude)).toEqual({
      state: 'unwanted',
    });
    expect(await jobs.resume(id)).toBe(true);
    expect(await jobs.find(id)).toMatchObject({ state: 'queued', endedDocuments: 1 });
    expect(await claim(shareOf(id))).toEqual([1]);
    await jobs.finish(id, { state: 'succeeded' });
    expect(await jobs.pause(id)).toBe(false);
    expect(await jobs.find(id)).toMatchObject({ state: 'succeeded' });
  });

  it('refuses a job beyond a number of unfinished ones', async () => {
    const { id } = await create();
    const another = { progress: { stage: 'new' }, request, weights: [1] };
    const one = { ofOne: 1, ofAll: 100 };
    expect(await jobs.create(another, one)).toBeUndefined();
    expect(await jobs.create(another, { ofOne: 100, ofAll: 1 })).toBeUndefined();
    await jobs.finish(id, { state: 'failed', error: failure });
    expect(await jobs.find(id)).toMatchObject({ state: 'failed', error: failure });
    const made = await jobs.create(another, one);
    await jobs.finish(made!.id, { state: 'cancelled' });
  });

  it('gives each client its share of the queue, and its turn', async () => {
    const limits = { ofOne: 2, ofAll: 100 };
    const of = (client: string) => ({ progress: { stage: 'new' }, request, weights: [1], client });
    const [first, second] = [await jobs.create(of('bob'), limits), await jobs.create(of('bob'), limits)];
    expect(await jobs.create(of('bob'), limits)).toBeUndefined();
    expect(await jobs.countUnfinished('bob')).toBe(2);
    const ofAlice = await jobs.create(of('alice'), limits);
    const order = async (clients: string[] = []) =>
      (await documents.findJobs({ ids: [], clients }, 5)).map(({ id }) => id);
    expect(await order()).toEqual([first!.id, ofAlice!.id, second!.id]);
    expect(await claim(shareOf(first!.id))).toEqual([0]);
    expect(await order()).toEqual([ofAlice!.id, second!.id]);
    expect(await order(['alice'])).toEqual([second!.id]);
    for (const job of [first, second, ofAlice]) await jobs.finish(job!.id, { state: 'cancelled' });
  });

  it('ends a paused job when it is cancelled, and forgets one after a month', async () => {
    const [cancelled, old] = [await create(), await create()];
    for (const { id } of [cancelled, old]) await jobs.pause(id);
    expect(await jobs.finish(cancelled.id, { state: 'cancelled' })).toEqual(request);
    expect(await jobs.resume(cancelled.id)).toBe(false);
    expect(await jobs.deleteOld()).toBe(0);
    await exec(`UPDATE ingest_jobs SET updated_at = now() - interval '31 days' WHERE id = $1`, old.id);
    expect(await jobs.deleteOld()).toBe(1);
  });

  it('forgets jobs that ended long ago', async () => {
    const { id } = await create();
    await jobs.finish(id, { state: 'succeeded' });
    expect(await jobs.deleteOld()).toBe(0);
    await exec(`UPDATE ingest_jobs SET finished_at = now() - interval '31 days' WHERE id = $1`, id);
    expect(await jobs.deleteOld()).toBe(1);
    expect(await jobs.find(id)).toBeUndefined();
  });

  it('lists the newest first and knows no others', async () => {
    const { id } = await create();
    expect((await jobs.list(1)).map((job) => job.id)).toEqual([id]);
    expect(await jobs.find('unknown')).toBeUndefined();
    expect(await documents.advance(shareOf(randomUUID()), nothing, conclude)).toEqual({ state: 'unwanted' });
  });
});
