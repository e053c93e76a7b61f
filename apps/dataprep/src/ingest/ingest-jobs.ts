import { once } from 'node:events';
import { MegaNestError, type IngestJob, type IngestProgress } from '#contracts';
import type { Job, JobsRepository } from '#storage';
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
const jobTimeoutMs = 3_600_000;
/** Jobs that run at a time in this process; more would only share the same processors and database. */
const maxRunning = 2;
/** Jobs that this process has, those that wait included. */
const maxJobs = 100;
/** A job that ended so many processes is not begun again. */
const maxAttempts = 3;

interface OwnJob {
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
      if (this.#own.size >= maxJobs || this.#closing) {
        const detail = `${maxJobs} ingest jobs wait already`;
        throw new MegaNestError('overloaded', { service: 'dataprep', detail, retryAfter: 30 });
      }
      const job = await this.parts.jobs.create({ latest: null }, request);
      this.#take(job.id, request);
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
    for (const [, { abort }] of own) abort.abort();
    await Promise.all(own.map(([, { done }]) => done));
    await Promise.all(own.map(([id]) => this.parts.jobs.release(id).catch(() => undefined)));
  }

  async #takeOver(): Promise<void> {
    const { jobs } = this.parts;
    await jobs.failAbandoned(this.abandonedAfterMs, interrupted().toBody(), maxAttempts);
    await jobs.deleteOld();
    const limit = maxRunning - this.#own.size;
    if (limit <= 0 || this.#closing) return;
    for (const { id, request } of await jobs.claimAbandoned(this.abandonedAfterMs, { limit, maxAttempts }))
      this.#take(id, request);
  }

  #take(id: string, request: IngestRequest): void {
    const abort = new AbortController();
    const done = this.#work(id, request, abort)
      .catch(() => undefined)
      .finally(() => this.#own.delete(id));
    this.#own.set(id, { abort, done });
  }

  /** Says every second that the job is alive, while it waits for its turn and while it runs. */
  async #work(id: string, request: IngestRequest, abort: AbortController): Promise<void> {
    const { jobs } = this.parts;
    const state: { latest: IngestProgress | null; begun: boolean } = { latest: null, begun: false };
    let isReporting = false;
    const report = async () => {
      if (isReporting) return;
      isReporting = true;
      const sign = state.begun ? jobs.report(id, { latest: state.latest }) : jobs.keep(id);
      const isWanted = await sign.finally(() => (isReporting = false));
      if (!isWanted) abort.abort();
    };
    const timer = setInterval(() => void report().catch(() => undefined), reportEveryMs).unref();
    try {
      await this.#turns.run(async () => {
        state.begun = true;
        await report();
        await this.#run(id, request, abort.signal, state);
      }, abort.signal);
    } finally {
      clearInterval(timer);
      if (!this.#closing) await this.parts.discard(request);
    }
  }

  async #run(
    id: string,
    request: IngestRequest,
    signal: AbortSignal,
    state: { latest: IngestProgress | null },
  ): Promise<void> {
    const { ingests, jobs } = this.parts;
    try {
      const call = { signal, deadline: Date.now() + jobTimeoutMs, requestId: id };
      for await (const progress of ingests.ingest(request, call)) state.latest = progress;
      await jobs.finish(id, 'succeeded', { progress: { latest: state.latest } });
    } catch (thrown) {
      if (this.#closing) return;
      const error = MegaNestError.from(thrown, 'dataprep');
      await jobs.finish(id, error.code === 'cancelled' ? 'cancelled' : 'failed', {
        progress: { latest: state.latest },
        error: error.toBody(),
      });
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
