import { once } from 'node:events';
import { MegaNestError, type IngestJob, type IngestProgress } from '#contracts';
import type { ClaimedJob, Job, JobsRepository } from '#storage';
import type { IngestService } from './ingest.service.js';
import { Semaphore } from './semaphore.js';
import type { IngestRequest } from './sources.js';

/** Progress of a job, as it is stored. */
export interface JobProgress {
  latest: IngestProgress | null;
}

/** Dependencies of the jobs. */
export interface JobParts {
  ingests: Pick<IngestService, 'check' | 'ingest'>;
  jobs: JobsRepository<JobProgress, IngestRequest>;
  /** Removes the files of a request that has ended. */
  discard: (request: IngestRequest) => Promise<void>;
}

/** Interval of progress reports. A report also shows that the job is alive. */
const reportEveryMs = 1_000;
/** About the time for which uploads are kept. Embedding a text of one gigabyte takes hours. */
const jobTimeoutMs = 20 * 3_600_000;
/** Concurrent jobs of this process. More jobs would only share the same processors and the same database. */
const maxRunning = 2;
/** Limit for the jobs of this process, running and waiting. */
const maxJobs = 100;
/** A job is not started again after this number of attempts that ended with their process. */
const maxAttempts = 3;

interface OwnJob {
  epoch: number;
  abort: AbortController;
  done: Promise<void>;
}

/**
 * Runs ingests in the background, a few at a time. Postgres stores their states and requests: every instance can report
 * on every job, and continues the jobs of a process that died or stopped. Documents that are already stored are
 * skipped.
 */
export class IngestJobs {
  readonly #own = new Map<string, OwnJob>();
  readonly #turns = new Semaphore(maxRunning);
  #sweeper: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(
    private readonly parts: JobParts,
    private readonly abandonedAfterMs: number,
  ) {}

  /** Takes over the jobs of dead processes, at regular intervals. */
  watchAbandoned(): void {
    const sweep = () => void this.#takeOver().catch(() => undefined);
    sweep();
    this.#sweeper = setInterval(sweep, this.abandonedAfterMs / 2).unref();
  }

  /**
   * Starts a job and returns at once. Errors: invalid_request, overloaded. Later errors become the error of the job.
   */
  async start(request: IngestRequest): Promise<IngestJob> {
    try {
      this.parts.ingests.check(request);
      this.#requireRoom();
      const job = await this.parts.jobs.create({ latest: null }, request);
      this.#take({ id: job.id, request, epoch: 0 });
      return toIngestJob(job);
    } catch (error) {
      await this.parts.discard(request);
      throw error;
    }
  }

  /** Errors: not_found. */
  async find(id: string): Promise<IngestJob> {
    const job = await this.parts.jobs.find(id);
    if (!job) throw new MegaNestError('not_found', { what: `The job ${id}`, param: 'id' });
    return toIngestJob(job);
  }

  /** Cancels a job of any instance. That instance stops the job at its next progress report. Errors: not_found. */
  async cancel(id: string): Promise<IngestJob> {
    await this.parts.jobs.finish(id, 'cancelled', { error: new MegaNestError('cancelled').toBody() });
    this.#own.get(id)?.abort.abort();
    return this.find(id);
  }

  /** Pauses a job of any instance. Stored documents stay, an unfinished document is discarded. Errors: not_found. */
  async pause(id: string): Promise<IngestJob> {
    await this.parts.jobs.pause(id);
    await this.#stop(id);
    return this.find(id);
  }

  /** Resumes a paused job in this process. Errors: not_found, overloaded. */
  async resume(id: string): Promise<IngestJob> {
    this.#requireRoom();
    const job = await this.parts.jobs.resume(id);
    if (job) {
      // The job may still run in this process if another instance paused it.
      await this.#stop(id);
      this.#take(job);
    }
    return this.find(id);
  }

  /** Resolves when the jobs of this process have ended, or when `over` aborts. */
  async idle(over: AbortSignal): Promise<void> {
    const ended = Promise.all([...this.#own.values()].map(({ done }) => done));
    await Promise.race([ended, over.aborted || once(over, 'abort')]);
  }

  /** Stops the jobs of this process and releases them. Another instance, or the next start, continues them. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#sweeper);
    const own = [...this.#own.entries()];
    await Promise.all(own.map(([id]) => this.#stop(id)));
    await Promise.all(
      own.map(([id, { epoch }]) => this.parts.jobs.release(id, epoch).catch(() => undefined)),
    );
  }

  /** Stops a job, if it runs in this process, and waits for its end. */
  async #stop(id: string): Promise<void> {
    const own = this.#own.get(id);
    own?.abort.abort();
    await own?.done;
  }

  #requireRoom(): void {
    if (this.#own.size < maxJobs && !this.#closing) return;
    const detail = `${maxJobs} ingest jobs are already waiting`;
    throw new MegaNestError('overloaded', { service: 'dataprep', detail, retryAfter: 30 });
  }

  async #takeOver(): Promise<void> {
    const { jobs } = this.parts;
    await jobs.failAbandoned(this.abandonedAfterMs, interrupted().toBody(), maxAttempts);
    await jobs.deleteOld();
    const limit = maxRunning - this.#own.size;
    if (limit <= 0 || this.#closing) return;
    for (const job of await jobs.claimAbandoned(this.abandonedAfterMs, { limit, maxAttempts }))
      this.#take(job);
  }

  #take(job: ClaimedJob<IngestRequest>): void {
    const abort = new AbortController();
    const own = { abort, epoch: job.epoch, done: Promise.resolve() };
    own.done = this.#work(job, abort)
      .catch(() => undefined)
      .finally(() => this.#own.get(job.id) === own && this.#own.delete(job.id))
      .then(() => undefined);
    this.#own.set(job.id, own);
  }

  /** Reports every second that the job is alive, while it waits and while it runs. */
  async #work(job: ClaimedJob<IngestRequest>, abort: AbortController): Promise<void> {
    const { jobs } = this.parts;
    const { id, epoch } = job;
    const state: { latest: IngestProgress | null; begun: boolean } = { latest: null, begun: false };
    let isReporting = false;
    const report = async () => {
      if (isReporting) return;
      isReporting = true;
      const sign = state.begun ? jobs.report(id, { latest: state.latest }, epoch) : jobs.keep(id, epoch);
      const isWanted = await sign.finally(() => (isReporting = false));
      if (!isWanted) abort.abort();
    };
    const timer = setInterval(() => void report().catch(() => undefined), reportEveryMs).unref();
    try {
      await this.#turns.run(async () => {
        state.begun = true;
        await report();
        await this.#run(job, abort.signal, state);
      }, abort.signal);
    } finally {
      clearInterval(timer);
      if (await this.#hasEnded(id)) await this.parts.discard(job.request);
    }
  }

  /** Whether the job has ended. The files of a job that is paused or runs in another process are still needed. */
  async #hasEnded(id: string): Promise<boolean> {
    if (this.#closing) return false;
    const job = await this.parts.jobs.find(id);
    return !job || job.finishedAt !== null;
  }

  async #run(
    { id, request }: ClaimedJob<IngestRequest>,
    signal: AbortSignal,
    state: { latest: IngestProgress | null },
  ): Promise<void> {
    const { ingests, jobs } = this.parts;
    try {
      const call = { signal, deadline: Date.now() + jobTimeoutMs, requestId: id };
      for await (const progress of ingests.ingest(request, call)) state.latest = progress;
      await jobs.finish(id, 'succeeded', { progress: { latest: state.latest } });
    } catch (thrown) {
      // The job was stopped from outside: it has ended, is paused, or continues in another process.
      if (signal.aborted) return;
      const error = MegaNestError.from(thrown, 'dataprep');
      await jobs.finish(id, 'failed', { progress: { latest: state.latest }, error: error.toBody() });
    }
  }
}

function interrupted(): MegaNestError {
  const detail = `${maxAttempts} processes ended while they ran the job; incomplete documents were not stored`;
  return new MegaNestError('service_unavailable', { service: 'dataprep', detail });
}

function toIngestJob({ progress, ...job }: Job<JobProgress>): IngestJob {
  return { ...job, progress: progress.latest };
}
