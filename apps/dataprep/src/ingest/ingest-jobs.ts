import { once } from 'node:events';
import { MegaNestError, type IngestJob, type IngestProgress } from '#contracts';
import type { ClaimedJob, Job, JobsRepository } from '#storage';
import type { IngestService } from './ingest.service.js';
import { Semaphore } from './semaphore.js';
import type { IngestRequest } from './sources.js';

/** How a job's progress is kept. */
export interface JobProgress {
  latest: IngestProgress | null;
}

/** What jobs stand on. */
export interface JobParts {
  ingests: Pick<IngestService, 'check' | 'ingest'>;
  jobs: JobsRepository<JobProgress, IngestRequest>;
  /** Removes the files of a request that is done with. */
  discard: (request: IngestRequest) => Promise<void>;
}

/** Also the sign of life of a job. */
const reportEveryMs = 1_000;
/** As long as uploads are kept, about: a text of a gigabyte takes hours to embed. */
const jobTimeoutMs = 20 * 3_600_000;
/** Jobs that run at a time in this process; more would only share the same processors and database. */
const maxRunning = 2;
/** Jobs that this process has, those that wait included. */
const maxJobs = 100;
/** A job that ended so many processes is not begun again. */
const maxAttempts = 3;

interface OwnJob {
  epoch: number;
  abort: AbortController;
  done: Promise<void>;
}

/**
 * Runs ingests in the background, a few at a time. Their state and their requests live in Postgres: every instance tells of
 * them, and goes on with those of a process that died or stopped. Documents that are stored already are skipped.
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

  /** Begins to take over jobs whose process died, now and then. */
  watchAbandoned(): void {
    const sweep = () => void this.#takeOver().catch(() => undefined);
    sweep();
    this.#sweeper = setInterval(sweep, this.abandonedAfterMs / 2).unref();
  }

  /** Answers at once. Errors: those that the request shows by itself, overloaded; later ones are the job's. */
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

  /** Cancels a job wherever it runs: the instance that runs it notices at its next report. Errors: not_found. */
  async cancel(id: string): Promise<IngestJob> {
    await this.parts.jobs.finish(id, 'cancelled', { error: new MegaNestError('cancelled').toBody() });
    this.#own.get(id)?.abort.abort();
    return this.find(id);
  }

  /** Sets a job aside wherever it runs: documents that are stored stay, one that is half done goes. Errors: not_found. */
  async pause(id: string): Promise<IngestJob> {
    await this.parts.jobs.pause(id);
    await this.#stop(id);
    return this.find(id);
  }

  /** Goes on with a paused job here. Errors: not_found, overloaded. */
  async resume(id: string): Promise<IngestJob> {
    this.#requireRoom();
    const job = await this.parts.jobs.resume(id);
    if (job) {
      // This process may have it still, from before another one paused it.
      await this.#stop(id);
      this.#take(job);
    }
    return this.find(id);
  }

  /** Resolves when the jobs of this process have ended or `over` aborts. */
  async idle(over: AbortSignal): Promise<void> {
    const ended = Promise.all([...this.#own.values()].map(({ done }) => done));
    await Promise.race([ended, over.aborted || once(over, 'abort')]);
  }

  /** Stops the jobs of this process and gives them up: another instance, or the next start, goes on with them. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#sweeper);
    const own = [...this.#own.entries()];
    await Promise.all(own.map(([id]) => this.#stop(id)));
    await Promise.all(
      own.map(([id, { epoch }]) => this.parts.jobs.release(id, epoch).catch(() => undefined)),
    );
  }

  /** Stops a job of this process, if it has it, and waits until it has ended. */
  async #stop(id: string): Promise<void> {
    const own = this.#own.get(id);
    own?.abort.abort();
    await own?.done;
  }

  #requireRoom(): void {
    if (this.#own.size < maxJobs && !this.#closing) return;
    const detail = `${maxJobs} ingest jobs wait already`;
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

  /** Says every second that the job is alive, while it waits for its turn and while it runs. */
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

  /** The files of a job that is paused, or that another process has, are still needed. */
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
      // Stopped from outside: it has ended, is paused, or goes on elsewhere.
      if (signal.aborted) return;
      const error = MegaNestError.from(thrown, 'dataprep');
      await jobs.finish(id, 'failed', { progress: { latest: state.latest }, error: error.toBody() });
    }
  }
}

function interrupted(): MegaNestError {
  const detail = `${maxAttempts} processes ended while they ran the job; nothing half was stored`;
  return new MegaNestError('service_unavailable', { service: 'dataprep', detail });
}

function toIngestJob({ progress, ...job }: Job<JobProgress>): IngestJob {
  return { ...job, progress: progress.latest };
}
