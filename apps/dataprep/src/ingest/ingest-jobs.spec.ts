import { randomUUID } from 'node:crypto';
import { asClient } from '#platform/foundation';
import { MegaNestError, type IngestedDocument, type IngestJob } from '#platform/contracts';
import type { Advance, ClaimedDocument, DocumentOutcome, EndedDocument, JobEnd } from '#platform/storage';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IngestJobs, type JobParts } from './ingest-jobs.js';
import type { JobProgress } from './job-run.js';
import type { IngestRequest } from './sources.js';

interface FakeJob {
  id: string;
  client: string;
  request: IngestRequest;
  weights: number[];
  /** Documents to claim. */
  waiting: ClaimedDocument[];
  outcomes: DocumentOutcome<IngestedDocument>[];
  ended: number;
  end: JobEnd<JobProgress> | undefined;
}

/** The jobs and documents of one process, in memory. */
class FakeStore {
  readonly jobs: FakeJob[] = [];
  maxUnfinished = Infinity;
  /** Earlier attempts of each new document. */
  attempts = [0];
  begunLast: number[] = [];
  released = 0;

  create({ request, weights, client }: { request: IngestRequest; weights: number[]; client: string }) {
    if (this.unfinished(client).length >= this.maxUnfinished) return Promise.resolve(undefined);
    const waiting = weights.map((weight, position) => ({
      position,
      weight,
      attempts: this.attempts[position] ?? 0,
    }));
    const job = {
      id: randomUUID(),
      client,
      request,
      weights,
      waiting,
      outcomes: [],
      ended: 0,
      end: undefined,
    };
    this.jobs.push(job);
    return this.find(job.id);
  }

  countUnfinished(client: string) {
    return Promise.resolve(this.unfinished(client).length);
  }

  private unfinished(client: string): FakeJob[] {
    return this.jobs.filter((job) => !job.end && job.client === client);
  }

  find(id: string) {
    const { end, weights, ended: endedDocuments } = this.of(id);
    const finishedAt = end ? 'now' : null;
    const progress = end?.progress ?? { latest: null };
    return Promise.resolve({
      id,
      progress,
      state: end?.state ?? 'running',
      documents: weights.length,
      endedDocuments,
      finishedAt,
      error: end?.error ?? null,
    });
  }

  findJobs(except: { ids: string[]; clients: string[] }, limit: number) {
    const open = this.jobs.filter(
      ({ id, client, waiting, end }) =>
        !end && waiting.length > 0 && !except.ids.includes(id) && !except.clients.includes(client),
    );
    return Promise.resolve(open.slice(0, limit).map((job) => ({ ...job, documents: job.weights.length })));
  }

  advance(
    { job: id }: { job: string },
    { ended, maxWeight }: { ended: EndedDocument<IngestedDocument>[]; maxWeight: number },
    conclude: (outcomes: DocumentOutcome<IngestedDocument>[]) => JobEnd<JobProgress>,
  ): Promise<Advance> {
    const job = this.of(id);
    for (const { position, outcome } of ended) job.outcomes[position] = outcome;
    job.ended += ended.length;
    if (job.end) return Promise.resolve({ state: 'unwanted' });
    if (job.ended === job.weights.length) {
      job.end = conclude(job.outcomes);
      return Promise.resolve({ state: 'ended' });
    }
    let room = Math.min(maxWeight, 16);
    const rest = job.waiting.findIndex(({ weight }) => (room -= weight) < 0);
    const count = rest === -1 ? job.waiting.length : rest;
    return Promise.resolve({ state: 'open', claimed: job.waiting.splice(0, count) });
  }

  finish(id: string, end: JobEnd<JobProgress>) {
    const job = this.of(id);
    if (job.end) return Promise.resolve(undefined);
    job.end = end;
    return Promise.resolve(job.request);
  }

  private of(id: string): FakeJob {
    return this.jobs.find((job) => job.id === id)!;
  }
}

/** What a document does when it is its turn. */
type Act = (filename: string) => Promise<IngestedDocument | MegaNestError>;

const storedAs = (filename: string): IngestedDocument => ({
  documentId: filename,
  filename,
  chunks: 1,
  outcome: 'added',
});

describe('IngestJobs', () => {
  let store: FakeStore;
  let jobs: IngestJobs;
  let act: Act;
  let running: { filename: string; end: () => void }[];
  /** Large documents that are read until the test calls them. */
  let reading: (() => void)[];
  let discarded: number;
  let signals: number;

  const names = () => running.map(({ filename }) => filename);
  const wait: Act = (filename) =>
    new Promise((resolve) => running.push({ filename, end: () => resolve(storedAs(filename)) }));
  const end = (filename?: string) => {
    const index = Math.max(0, names().indexOf(filename ?? ''));
    running.splice(index, 1)[0]?.end();
  };
  const request = (...filenames: string[]) => ({ links: filenames }) as unknown as IngestRequest;
  const sourcesOf = ({ links }: IngestRequest) =>
    links.map((filename, index) => {
      return { filename, bytes: filename.startsWith('large') ? 1e6 : 1, param: `link_list[${index}]` };
    });
  const state = async (job: IngestJob) => (await jobs.find(job.id)).state;

  beforeEach(() => {
    [store, act, running, reading, discarded, signals] = [new FakeStore(), wait, [], [], 0, 0];
    const open = (given: IngestRequest) => ({
      sources: sourcesOf(given),
      async *document(index: number, signal: AbortSignal) {
        const filename = given.links[index]!;
        const stopped = new Promise<never>((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new MegaNestError('cancelled'))),
        );
        const counts = { filename, completed: 0, total: 1 };
        if (filename.startsWith('large')) {
          yield { stage: 'reading' as const, ...counts };
          await Promise.race([new Promise<void>((resolve) => reading.push(resolve)), stopped]);
        }
        yield { stage: 'chunking' as const, ...counts };
        return await Promise.race([act(filename), stopped]);
      },
    });
    const parts = {
      ingests: {
        sourcesOf,
        open: (given: IngestRequest) => Promise.resolve(open(given)),
        measure: () => ({ end: () => {} }),
      },
      jobs: store,
      documents: {
        findJobs: store.findJobs.bind(store),
        advance: (...given: Parameters<FakeStore['advance']>) => store.advance(...given),
        beginLastAttempt: (_share: unknown, position: number) =>
          Promise.resolve(void store.begunLast.push(position)),
        renew: () => Promise.resolve(true),
        release: () => Promise.resolve(void (store.released += 1)),
      },
      discard: () => Promise.resolve(void (discarded += 1)),
      signal: { send: () => void (signals += 1), onSignal: () => {} },
    };
    jobs = new IngestJobs(parts as unknown as JobParts, 1_000);
  });

  afterEach(() => jobs.close());

  it('works on two jobs at a time, and on the next one when one has ended', async () => {
    const started: IngestJob[] = [];
    for (const name of ['a', 'b', 'c', 'd']) started.push(await jobs.start(request(name)));
    await expect.poll(names).toEqual(['a', 'b']);
    // Other processes hear of the jobs that this one has no room for.
    expect(signals).toBe(2);
    end('a');
    await expect.poll(names).toEqual(['b', 'c']);
    expect(await state(started[0]!)).toBe('succeeded');
    expect(discarded).toBe(1);
  });

  it('refuses a job beyond those that wait, and discards its files', async () => {
    store.maxUnfinished = 1;
    await jobs.start(request('a'));
    await expect(jobs.start(request('b'))).rejects.toMatchObject({ code: 'overloaded', retryAfter: 30 });
    expect(discarded).toBe(1);
  });

  it('begins the job of another client at once, whose jobs are counted for themselves', async () => {
    const of = (client: string, name: string) => asClient(client, () => jobs.start(request(name)));
    for (const name of ['b1', 'b2', 'b3']) await of('bob', name);
    store.maxUnfinished = 3;
    await expect(of('bob', 'b4')).rejects.toMatchObject({ code: 'overloaded' });
    await of('alice', 'a1');
    await expect.poll(names).toEqual(['b1', 'b2', 'a1']);
    end('a1');
    end('b1');
    await expect.poll(names).toEqual(['b2', 'b3']);
  });

  it('counts the documents of a job, and ends it with those that failed', async () => {
    const refusal = new MegaNestError('internal_error', { service: 'postgres', detail: 'it refused' });
    act = (filename) => {
      if (filename === 'bad')
        return Promise.resolve(new MegaNestError('unsupported_file', { detail: 'bad' }));
      return filename === 'refused' ? Promise.reject(refusal) : wait(filename);
    };
    const job = await jobs.start(request('a', 'bad', 'refused', 'b'));
    await expect.poll(names).toEqual(['a', 'b']);
    end();
    end();
    await expect.poll(() => state(job)).toBe('succeeded');
    const { progress } = await jobs.find(job.id);
    expect(progress).toMatchObject({ stage: 'done', completed: 2, total: 4, filename: 'b' });
    expect(progress?.documents?.map(({ filename }) => filename)).toEqual(['a', 'b']);
    expect(progress?.failed).toMatchObject([
      { filename: 'bad', error: { code: 'unsupported_file' } },
      { filename: 'refused', error: { code: 'internal_error' } },
    ]);
  });

  it('fails a job of which no document was stored', async () => {
    act = () => Promise.resolve(new MegaNestError('unsupported_file', { detail: 'bad' }));
    const job = await jobs.start(request('a', 'b'));
    await expect.poll(() => state(job)).toBe('failed');
    expect((await jobs.find(job.id)).error).toMatchObject({ code: 'unsupported_file' });
    expect(discarded).toBe(1);
  });

  it('fails a job whose work cannot go on', async () => {
    const refusal = new MegaNestError('internal_error', { service: 'postgres', detail: 'it refused' });
    store.advance = () => Promise.reject(refusal);
    const job = await jobs.start(request('a', 'b'));
    await expect.poll(() => state(job)).toBe('failed');
    expect((await jobs.find(job.id)).error).toMatchObject({ code: 'internal_error' });
    expect(discarded).toBe(1);
  });

  it('waits for a service that is away', async () => {
    let calls = 0;
    act = (filename) => {
      calls += 1;
      if (calls > 1) return Promise.resolve(storedAs(filename));
      return Promise.reject(
        new MegaNestError('service_unavailable', { service: 'postgres', detail: 'away' }),
      );
    };
    const job = await jobs.start(request('a'));
    await expect.poll(() => state(job)).toBe('succeeded');
    expect(calls).toBe(2);
  });

  it('makes the last attempt of a document alone, and sets it aside after that', async () => {
    store.attempts = [0, 3, 2, 1];
    const job = await jobs.start(request('a', 'spent', 'last', 'b'));
    await expect.poll(names).toEqual(['a']);
    expect(store.begunLast).toEqual([]);
    end('a');
    await expect.poll(names).toEqual(['last']);
    expect(store.begunLast).toEqual([2]);
    end('last');
    await expect.poll(names).toEqual(['b']);
    // The outcome is stored before another document may end the process.
    expect(store.jobs[0]?.outcomes[2]).toMatchObject({ stored: { filename: 'last' } });
    end('b');
    await expect.poll(() => state(job)).toBe('succeeded');
    const { progress } = await jobs.find(job.id);
    expect(progress?.documents?.map(({ filename }) => filename)).toEqual(['a', 'last', 'b']);
    expect(progress?.failed).toMatchObject([
      { filename: 'spent', error: { code: 'service_unavailable', param: 'link_list[1]' } },
    ]);
  });

  it('ends a job with a last attempt', async () => {
    store.attempts = [2];
    const job = await jobs.start(request('last'));
    await expect.poll(names).toEqual(['last']);
    end();
    await expect.poll(() => state(job)).toBe('succeeded');
    expect(discarded).toBe(1);
    await jobs.idle(new AbortController().signal);
  });

  it('ends its documents when the process stops, and leaves the others to the other processes', async () => {
    const filenames = Array.from({ length: 70 }, (_unused, index) => `${index}`);
    const job = await jobs.start(request(...filenames));
    await expect.poll(() => running.length).toBe(64);
    const before = signals;
    const idle = jobs.idle(new AbortController().signal);
    expect(signals).toBe(before + 1);
    while (running.length > 0) end();
    await idle;
    expect(await state(job)).toBe('running');
    expect(store.jobs[0]).toMatchObject({ ended: 64, waiting: { length: 6 } });
    expect(store.released).toBe(0);
    await jobs.start(request('later'));
    await jobs.close();
    expect(names()).toEqual([]);
  });

  it('leaves large documents that it cannot read yet to other processes, but claims small ones', async () => {
    const job = await jobs.start(request('large 0', 'large 1', 'small', 'large 2', 'large 3', 'large 4'));
    await expect.poll(names).toEqual(['small']);
    const waiting = () => store.jobs[0]!.waiting.map(({ position }) => position);
    expect([reading.length, waiting()]).toEqual([2, [3, 4, 5]]);
    end('small');
    for (const left of [[4, 5], [5]]) {
      reading.shift()!();
      await expect.poll(waiting).toEqual(left);
    }
    // Now it has four large documents.
    reading.shift()!();
    await expect.poll(names).toEqual(['large 0', 'large 1', 'large 2']);
    expect(waiting()).toEqual([5]);
    end('large 0');
    await expect.poll(waiting).toEqual([]);
    await expect.poll(() => reading.length).toBe(2);
    for (const read of reading.splice(0)) read();
    await expect.poll(() => running.length).toBe(4);
    while (running.length > 0) end();
    await expect.poll(() => state(job)).toBe('succeeded');
  });

  it('gives its documents back when it is closed', async () => {
    await jobs.start(request('a', 'b'));
    await expect.poll(names).toEqual(['a', 'b']);
    await jobs.close();
    expect(store.released).toBe(1);
    expect(discarded).toBe(0);
  });
});
