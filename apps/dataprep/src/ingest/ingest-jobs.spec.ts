import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { IngestJobs, type JobParts } from './ingest-jobs.js';
import type { IngestRequest } from './sources.js';

const request = { files: [], links: [] } as unknown as IngestRequest;
/** Jobs that a process may have. */
const most = 100;

describe('IngestJobs', () => {
  const running: (() => void)[] = [];
  let ended = 0;
  let discarded = 0;
  let jobs: IngestJobs;

  /** Ingests that go on until they are let go. */
  async function* ingest(): AsyncGenerator<unknown, void, void> {
    yield {};
    await new Promise<void>((resolve) => running.push(resolve));
  }

  function open(): IngestJobs {
    const parts = {
      ingests: { check: () => {}, ingest },
      jobs: {
        create: () => Promise.resolve({ id: randomUUID(), progress: { latest: null } }),
        keep: () => Promise.resolve(true),
        report: () => Promise.resolve(true),
        finish: () => Promise.resolve((ended += 1) > 0),
        find: (id: string) => Promise.resolve({ id, progress: { latest: null }, finishedAt: 'now' }),
      },
      discard: () => Promise.resolve(void (discarded += 1)),
    };
    jobs = new IngestJobs(parts as unknown as JobParts, 1_000);
    return jobs;
  }

  afterEach(async () => {
    const over = new AbortController();
    const idle = jobs.idle(over.signal);
    const letGo = setInterval(() => running.splice(0).forEach((end) => end()), 1);
    await idle;
    clearInterval(letGo);
  });

  it('works on two jobs at a time, and on the next one when one has ended', async () => {
    open();
    for (let count = 0; count < 5; count += 1) await jobs.start(request);
    await expect.poll(() => running.length).toBe(2);
    await new Promise(setImmediate);
    expect(running).toHaveLength(2);
    running.shift()?.();
    await expect.poll(() => running.length).toBe(2);
    expect(ended).toBe(1);
  });

  it('refuses a job beyond those that wait, and discards its files', async () => {
    open();
    for (let count = 0; count < most; count += 1) await jobs.start(request);
    const before = discarded;
    await expect(jobs.start(request)).rejects.toMatchObject({ code: 'overloaded', retryAfter: 30 });
    expect(discarded).toBe(before + 1);
  });
});
