import type { IngestJob } from '#platform/contracts';
import { expect, it } from 'vitest';
import { waitForJob, waitOf, watchJob } from './respond-async.js';

it.each([
  [undefined, undefined],
  ['return=minimal', undefined],
  ['respond-async', 10_000],
  ['respond-async, wait=30', 30_000],
  ['wait = "5" , Respond-Async', 5_000],
  [['respond-async', 'wait=0'], 0],
  ['wait=5', undefined],
])('reads the preference %j', (header, milliseconds) => {
  expect(waitOf(header)).toBe(milliseconds);
});

const job = (finishedAt: string | null) => ({ id: 'job_1', finishedAt }) as IngestJob;

it('waits for the end of a job, and not longer than it may', async () => {
  const states = [job(null), job('now')];
  const jobs = { find: () => Promise.resolve(states.shift()!) };
  const { signal } = new AbortController();
  expect(await waitForJob(jobs, job(null), { waitMs: 60_000, signal })).toMatchObject({ finishedAt: 'now' });
  expect(states).toEqual([]);
  const never = { find: () => Promise.resolve(job(null)) };
  expect(await waitForJob(never, job(null), { waitMs: 10, signal })).toMatchObject({ finishedAt: null });
});

it('shows each change of a job once, and its end', async () => {
  const at = (updatedAt: string, finishedAt: string | null = null) => ({ ...job(finishedAt), updatedAt });
  const states = [at('1'), at('2'), at('2'), at('3', 'now')];
  const jobs = { find: () => Promise.resolve(states.shift()!) };
  const seen: string[] = [];
  const { signal } = new AbortController();
  for await (const { updatedAt } of watchJob(jobs, at('1'), { waitMs: 60_000, signal })) seen.push(updatedAt);
  expect(seen).toEqual(['1', '2', '3']);
});

it('reads nothing for a client that has left', async () => {
  const jobs = { find: () => Promise.reject(new Error('not called')) };
  expect(await waitForJob(jobs, job(null), { waitMs: 60_000, signal: AbortSignal.abort() })).toEqual(
    job(null),
  );
});
