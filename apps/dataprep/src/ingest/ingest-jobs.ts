import { once } from 'node:events';
import { MegaNestError, type IngestJob, type IngestProgress } from '#contracts';
import type { Job, JobsRepository } from '#storage';
import type { IngestService } from './ingest.service.js';
import type { IngestRequest } from './sources.js';

/** How a job's progress is kept. */
export interface JobProgress {
  latest: IngestProgress | null;
}

/** Also the sign of life of a job. */
const reportEveryMs = 1_000;
const jobTimeoutMs = 3_600_000;

/** Runs ingests in the background; their state lives in Postgres, where every instance sees it. */
export class IngestJobs {
  readonly #running = new Map<string, { abort: AbortController; done: Promise<void> }>();
  #sweeper: NodeJS.Timeout | undefined;

  constructor(
    private readonly ingests: IngestService,
    private readonly jobs: JobsRepository<JobProgress>,
    private readonly abandonedAfterMs: number,
  ) {}

  /** Begins to fail jobs whose process died, now and then. */
  watchAbandoned(): void {
    const fail = () => this.jobs.failAbandoned(this.abandonedAfterMs, interrupted().toBody());
    const sweep = () => void fail().catch(() => undefined);
    sweep();
    this.#sweeper = setInterval(sweep, this.abandonedAfterMs / 2).unref();
  }

  /**
   * Answers at once. Errors: those that the request shows by itself; later ones are the job's. `discard` removes its
   * files and runs when they are no longer needed, whatever happens.
   */
  async start(request: IngestRequest, discard: () => Promise<void>): Promise<IngestJob> {
    const job = await this.#create(request).catch(async (error: unknown) => {
      await discard();
      throw error;
    });
    const abort = new AbortController();
    const done = this.#run(job.id, request, abort)
      .catch(() => undefined)
      .then(discard)
      .finally(() => this.#running.delete(job.id));
    this.#running.set(job.id, { abort, done });
    return toIngestJob(job);
  }

  async #create(request: IngestRequest): Promise<Job<JobProgress>> {
    this.ingests.check(request);
    return this.jobs.create({ latest: null });
  }

  /** Errors: not_found. */
  async find(id: string): Promise<IngestJob> {
    const job = await this.jobs.find(id);
    if (!job) throw new MegaNestError('not_found', { what: `The job ${id}`, param: 'id' });
    return toIngestJob(job);
  }

  /** Cancels a job wherever it runs: the instance that runs it notices at its next report. Errors: not_found. */
  async cancel(id: string): Promise<IngestJob> {
    await this.jobs.finish(id, 'cancelled', { error: new MegaNestError('cancelled').toBody() });
    this.#running.get(id)?.abort.abort();
    return this.find(id);
  }

  /** Resolves when the jobs of this process have ended or `over` aborts. */
  async idle(over: AbortSignal): Promise<void> {
    const ended = Promise.all([...this.#running.values()].map(({ done }) => done));
    await Promise.race([ended, over.aborted || once(over, 'abort')]);
  }

  /** Stops the jobs of this process and marks them as failed. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    const running = [...this.#running.entries()];
    await Promise.all(
      running.map(([id]) => this.jobs.finish(id, 'failed', { error: interrupted().toBody() })),
    );
    for (const [, { abort }] of running) abort.abort();
    await Promise.all(running.map(([, { done }]) => done));
  }

  async #run(id: string, request: IngestRequest, abort: AbortController): Promise<void> {
    let latest: IngestProgress | null = null;
    let isReporting = false;
    const report = async () => {
      if (isReporting) return;
      isReporting = true;
      const isWanted = await this.jobs.report(id, { latest }).finally(() => (isReporting = false));
      if (!isWanted) abort.abort();
    };
    const timer = setInterval(() => void report().catch(() => undefined), reportEveryMs).unref();
    try {
      await report();
      const call = { signal: abort.signal, deadline: Date.now() + jobTimeoutMs, requestId: id };
      for await (const progress of this.ingests.ingest(request, call)) latest = progress;
      await this.jobs.finish(id, 'succeeded', { progress: { latest } });
    } catch (thrown) {
      const error = MegaNestError.from(thrown, 'dataprep');
      await this.jobs.finish(id, error.code === 'cancelled' ? 'cancelled' : 'failed', {
        progress: { latest },
        error: error.toBody(),
      });
    } finally {
      clearInterval(timer);
    }
  }
}

function interrupted(): MegaNestError {
  const detail = 'it was stopped while it ran the job; nothing half was stored, send the files again';
  return new MegaNestError('service_unavailable', { service: 'dataprep', detail });
}

function toIngestJob({ progress, ...job }: Job<JobProgress>): IngestJob {
  return { ...job, progress: progress.latest };
}
