import { once } from 'node:events';
import { asClient, currentClient } from '#platform/foundation';
import { MegaNestError, type IngestedDocument, type IngestJob } from '#platform/contracts';
import type { Job, JobDocuments, JobsRepository, SharedJob } from '#platform/storage';
import { JobRun, maxWeight, weightOf, type JobProgress, type RunParts } from './job-run.js';
import { Semaphore } from './semaphore.js';
import type { IngestRequest } from './sources.js';

/** Tells the other instances that a job has documents to claim. */
export interface JobSignal {
  send(): void;
  /** Calls back for the signal of any instance. */
  onSignal(listener: () => void): void;
}

/** Dependencies of the jobs. */
export interface JobParts extends RunParts {
  jobs: JobsRepository<JobProgress, IngestRequest>;
  documents: JobDocuments<JobProgress, IngestRequest, IngestedDocument>;
  signal: JobSignal;
}

/** Concurrent jobs of this process. More jobs would only share the same processors and the same database. */
const maxRunning = 2;
/** A job in addition, of a client that has none here, so that a client with many jobs does not keep others waiting. */
const maxRunningOfAll = maxRunning + 1;
/** Milliseconds after which a process looks for jobs again that found a job without documents to claim. */
const lostRaceMs = 100;
/** Limits for the jobs on all instances, running and waiting: of one client, and of all. */
const maxJobs = { ofOne: 100, ofAll: 400 };

/**
 * Runs ingests in the background. Postgres stores jobs and their documents: every instance can report on every job, and
 * all instances share the documents of a job. Documents of a process that died or stopped are claimed by another one.
 * Documents that are already stored are skipped.
 */
export class IngestJobs {
  readonly #own = new Map<string, JobRun>();
  readonly #turns = new Semaphore(maxRunningOfAll * maxWeight);
  #sweeper: NodeJS.Timeout | undefined;
  #isDraining = false;
  #joining: Promise<void> | undefined;
  #mustJoin = false;

  constructor(
    private readonly parts: JobParts,
    private readonly abandonedAfterMs: number,
  ) {}

  /** Looks for documents to claim: at the signal of another instance, and at regular intervals. */
  watch(): void {
    const sweep = () => void this.#sweep().catch(() => undefined);
    sweep();
    this.#sweeper = setInterval(sweep, this.abandonedAfterMs / 2).unref();
    this.parts.signal.onSignal(() => this.#join());
  }

  /**
   * Starts a job and returns at once. Errors: invalid_request, overloaded. Later errors become the error of the job.
   */
  async start(request: IngestRequest): Promise<IngestJob> {
    try {
      const weights = this.parts.ingests.sourcesOf(request).map(weightOf);
      const client = currentClient();
      const created = { progress: { latest: null }, request, weights, client };
      const job = await this.parts.jobs.create(created, maxJobs);
      if (!job) throw tooMany(await this.parts.jobs.countUnfinished(client));
      const isOwn = this.#take({ id: job.id, client, request, documents: weights.length });
      if (!isOwn || weights.length > 1) this.parts.signal.send();
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

  /** Cancels a job. Other instances stop at their next report. Errors: not_found. */
  async cancel(id: string): Promise<IngestJob> {
    const error = new MegaNestError('cancelled').toBody();
    const request = await this.parts.jobs.finish(id, { state: 'cancelled', error });
    if (request) {
      await this.#own.get(id)?.stop();
      await this.parts.discard(request);
    }
    return this.find(id);
  }

  /**
   * Pauses a job. Other instances stop at their next report. Stored documents stay, unfinished documents are discarded.
   * Errors: not_found.
   */
  async pause(id: string): Promise<IngestJob> {
    if (await this.parts.jobs.pause(id)) await this.#own.get(id)?.stop();
    return this.find(id);
  }

  /** Resumes a paused job on all instances. Errors: not_found. */
  async resume(id: string): Promise<IngestJob> {
    if (await this.parts.jobs.resume(id)) {
      // The job may still run in this process if another instance paused it.
      await this.#own.get(id)?.stop();
      this.parts.signal.send();
      await this.#sweep();
    }
    return this.find(id);
  }

  /** Ends the documents that are under way, and resolves then, or when `over` aborts. The others wait for another process. */
  async idle(over: AbortSignal): Promise<void> {
    this.#isDraining = true;
    const ended = Promise.all([...this.#own.values()].map((run) => run.drain()));
    if (this.#own.size > 0) this.parts.signal.send();
    await Promise.race([ended, over.aborted || once(over, 'abort')]);
  }

  /** Stops the work of this process and releases its documents. Another instance, or the next start, continues it. */
  async close(): Promise<void> {
    this.#isDraining = true;
    clearInterval(this.#sweeper);
    await this.#joining;
    if (this.#own.size === 0) return;
    await Promise.all([...this.#own.values()].map((run) => run.stop()));
    this.parts.signal.send();
  }

  async #sweep(): Promise<void> {
    await this.parts.jobs.deleteOld();
    this.#join();
    await this.#joining;
  }

  /** Takes part in jobs with documents to claim. A call during another one looks again after it. */
  #join(): void {
    this.#mustJoin = true;
    this.#joining ??= this.#lookForJobs()
      .catch(() => undefined)
      .finally(() => (this.#joining = undefined));
  }

  async #lookForJobs(): Promise<void> {
    while (this.#mustJoin) {
      this.#mustJoin = false;
      const free = maxRunningOfAll - this.#own.size;
      if (free <= 0 || this.#isDraining) return;
      const except = {
        ids: [...this.#own.keys()],
        clients: this.#own.size < maxRunning ? [] : this.#clients,
      };
      const jobs = await this.parts.documents.findJobs(except, free);
      for (const job of jobs) this.#take(job);
    }
  }

  /** The clients of the jobs of this process. */
  get #clients(): string[] {
    return [...this.#own.values()].map(({ client }) => client);
  }

  /** False if this process has enough jobs. */
  #take(job: SharedJob<IngestRequest>): boolean {
    if (this.#own.has(job.id)) return true;
    const max = this.#clients.includes(job.client) ? maxRunning : maxRunningOfAll;
    if (this.#own.size >= max || this.#isDraining) return false;
    const run = asClient(job.client, () => new JobRun(this.parts, job, this.#turns));
    this.#own.set(job.id, run);
    void this.#follow(job.id, run);
    return true;
  }

  async #follow(id: string, run: JobRun): Promise<void> {
    const isWell = await run.done;
    this.#own.delete(id);
    if (!isWell) return;
    if (run.claimed > 0) this.#join();
    // Another process was faster.
    else setTimeout(() => this.#join(), lostRaceMs).unref();
  }
}

function tooMany(own: number): MegaNestError {
  const { ofOne, ofAll } = maxJobs;
  const detail =
    own < ofOne
      ? `${ofAll} ingest jobs waiting`
      : `${own} ingest jobs of this client waiting, and the limit is ${ofOne}`;
  return new MegaNestError('overloaded', { service: 'dataprep', detail, retryAfter: 30 });
}

/** The progress of a job of several documents counts its documents. */
function toIngestJob({ progress, documents, endedDocuments, ...job }: Job<JobProgress>): IngestJob {
  const { latest } = progress;
  const isCounted = latest && documents > 1 && job.finishedAt === null;
  const counts = { completed: endedDocuments, total: documents };
  return { ...job, progress: isCounted ? { ...latest, ...counts } : latest };
}
