import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import {
  MegaNestError,
  type ErrorBody,
  type IngestedDocument,
  type IngestProgress,
} from '#platform/contracts';
import {
  maxClaimWeight,
  maxDocumentAttempts,
  type Advance,
  type ClaimedDocument,
  type DocumentOutcome,
  type EndedDocument,
  type JobDocuments,
  type JobEnd,
  type JobsRepository,
  type SharedJob,
} from '#platform/storage';
import { maxLoading } from './document-loader.js';
import { logFailed, resultOf } from './ingest-result.js';
import type { IngestService, OpenedIngest } from './ingest.service.js';
import type { Semaphore } from './semaphore.js';
import { isSmall, type IngestRequest, type IngestSource } from './sources.js';
import { withPatience } from './with-patience.js';

/** Progress of a job, as it is stored. */
export interface JobProgress {
  latest: IngestProgress | null;
}

/** Dependencies of a run. */
export interface RunParts {
  ingests: Pick<IngestService, 'sourcesOf' | 'open' | 'measure'>;
  jobs: Pick<JobsRepository<JobProgress, IngestRequest>, 'finish'>;
  documents: Pick<
    JobDocuments<JobProgress, IngestRequest, IngestedDocument>,
    'advance' | 'beginLastAttempt' | 'renew' | 'release'
  >;
  /** Removes the files of a request that has ended. */
  discard: (request: IngestRequest) => Promise<void>;
}

/** Interval at which a run renews its documents and stores its progress. */
const renewEveryMs = 1_000;
/** About the time for which uploads are kept. Embedding a text of one gigabyte takes hours. */
const runTimeoutMs = 20 * 3_600_000;
/** Time for which a run waits for an unavailable service before the job fails. */
const comeBackMs = 600_000;
/** Weight, and so the maximum number, of the documents of a run: 64 small or 4 large documents. */
export const maxWeight = 64;
const weights = { small: 1, large: 16 };

/** The weight of a document. Its file is in memory while it is read, and the texts of small documents are embedded together. */
export function weightOf(source: IngestSource): number {
  return isSmall(source) ? weights.small : weights.large;
}

/** The share of this process in one job: it claims documents, ingests them and stores their outcomes. */
export class JobRun {
  readonly #stop = new AbortController();
  #sources: readonly IngestSource[] = [];
  /** Documents of this process, with their weights. */
  readonly #working = new Map<number, number>();
  /** Large documents that are not read yet. */
  readonly #reading = new Set<number>();
  #ended: EndedDocument<IngestedDocument>[] = [];
  /** Documents without a stored outcome. */
  readonly #held = new Set<number>();
  #claimed = 0;
  /** This run has ended the job. */
  #isOver = false;
  #latest: IngestProgress | null = null;
  #failure: MegaNestError | undefined;
  #isDraining = false;
  #isRenewing = false;
  #opening: Promise<OpenedIngest> | undefined;
  #wake: (isReport?: boolean) => void = () => undefined;
  #measured: ReturnType<IngestService['measure']> | undefined;
  readonly #share: { job: string; owner: string };
  /** Resolves at the end of the run; false after a failure of the database. */
  readonly done: Promise<boolean>;

  /** Begins at once. `turns` has permits for all documents of this process; last attempts run alone. */
  constructor(
    private readonly parts: RunParts,
    private readonly job: SharedJob<IngestRequest>,
    private readonly turns: Semaphore,
  ) {
    this.#share = { job: job.id, owner: randomUUID() };
    // Each of its documents listens.
    setMaxListeners(0, this.#stop.signal);
    this.done = this.#run().catch(() => false);
  }

  /** The client whose job it is. */
  get client(): string {
    return this.job.client;
  }

  /** Number of documents that it has claimed. */
  get claimed(): number {
    return this.#claimed;
  }

  /** Stops the work and gives the documents back. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.done;
  }

  /** Ends its documents and does not claim further ones. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.done;
  }

  async #run(): Promise<boolean> {
    const timer = setInterval(() => void this.#renew(), renewEveryMs).unref();
    let outcome: 'ok' | 'error' | 'cancelled' = 'ok';
    try {
      await this.#work();
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failure = MegaNestError.from(error, 'dataprep');
      outcome = this.#failure ? 'error' : 'cancelled';
    }
    await this.#leave();
    clearInterval(timer);
    this.#measured?.end(outcome);
    if (this.#failure) await this.#fail(this.#failure);
    return true;
  }

  /** Works until no document is left for this process. Errors: the run was stopped, or cannot go on. */
  async #work(): Promise<void> {
    const { signal } = this.#stop;
    this.#sources = this.parts.ingests.sourcesOf(this.job.request);
    while (!this.#isOver) {
      signal.throwIfAborted();
      const room = this.#room();
      const readEnough = this.#readsEnough;
      if (room > 0 || this.#ended.length > 0) {
        const { state, isFull } = await this.#advance(room);
        if (state === 'unwanted') this.#stop.abort();
        if (isFull) continue;
      }
      if (this.#working.size > 0) await this.#someHaveEnded(readEnough);
      else if (this.#ended.length === 0) return;
    }
  }

  /** Weight of the documents to claim: none after the last one, or while the process stops. */
  #room(): number {
    if (this.#isDraining || this.#claimed >= this.job.documents) return 0;
    const room = maxWeight - sumOf(this.#working.values());
    return this.#readsEnough ? Math.min(room, weights.large - 1) : room;
  }

  /** A further large document would wait here, while another instance may have time for it. */
  get #readsEnough(): boolean {
    return this.#reading.size >= maxLoading;
  }

  /** Stores outcomes and claims documents. `isFull`: more could be claimed at once. Ends the job with the last outcome. */
  async #advance(
    room: number,
    ended = [...this.#ended],
  ): Promise<{ state: Advance['state']; isFull: boolean }> {
    const { signal } = this.#stop;
    const turn = { ended, maxWeight: room };
    const outcome = await withPatience({ signal, comeBackMs }, () =>
      this.parts.documents.advance(this.#share, turn, (outcomes) => endOf(this.#sources, outcomes)),
    );
    this.#ended = this.#ended.filter((document) => !ended.includes(document));
    for (const { position } of ended) this.#held.delete(position);
    const { state } = outcome;
    if (state === 'ended') {
      this.#isOver = true;
      await this.parts.discard(this.job.request);
    }
    if (state !== 'open') return { state, isFull: false };
    for (const document of outcome.claimed) this.#begin(this.#sources[document.position]!, document);
    const claimed = sumOf(outcome.claimed.map(({ weight }) => weight));
    return { state, isFull: room > 0 && claimed >= Math.min(maxClaimWeight, room) };
  }

  #begin(source: IngestSource, document: ClaimedDocument): void {
    const { position, weight } = document;
    this.#measured ??= this.parts.ingests.measure();
    this.#claimed += 1;
    this.#held.add(position);
    this.#working.set(position, weight);
    if (weight >= weights.large) this.#reading.add(position);
    void this.#document(source, document)
      .then(
        (outcome) => outcome && this.#ended.push({ position, outcome }),
        (error: unknown) => {
          if (this.#stop.signal.aborted) return;
          this.#failure = MegaNestError.from(error, 'dataprep');
          this.#stop.abort();
        },
      )
      .finally(() => {
        this.#working.delete(position);
        this.#reading.delete(position);
        this.#wake();
      });
  }

  /**
   * Resolves when enough has ended for another transaction, or with the next report. `readEnough`: also when a large document
   * can be claimed.
   */
  async #someHaveEnded(readEnough: boolean): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      const before = sumOf(this.#working.values());
      const isDue = () => {
        const left = sumOf(this.#working.values());
        const canRead = readEnough && !this.#readsEnough;
        return left === 0 || before - left >= maxClaimWeight || canRead || this.#stop.signal.aborted;
      };
      this.#wake = (isReport = false) => {
        if (isDue() || (isReport && this.#ended.length > 0)) resolve();
      };
      this.#wake();
    });
    await ended;
    this.#wake = () => undefined;
  }

  /** Returns the outcome of a document that is not stored yet. */
  async #document(
    { filename, param }: IngestSource,
    { position, attempts }: ClaimedDocument,
  ): Promise<DocumentOutcome<IngestedDocument> | undefined> {
    const { signal } = this.#stop;
    if (attempts >= maxDocumentAttempts) return { error: setAside(filename, param).toBody() };
    const ingest = () => withPatience({ signal, comeBackMs }, () => this.#ingest(position));
    if (attempts < maxDocumentAttempts - 1) return this.turns.run(ingest, signal);
    return this.turns.runAlone(async () => {
      const begin = () => this.parts.documents.beginLastAttempt(this.#share, position);
      await withPatience({ signal, comeBackMs }, begin);
      const outcome = await ingest();
      // The next document may end the process.
      await this.#advance(0, [{ position, outcome }]);
      return undefined;
    }, signal);
  }

  /** Ingests a document. Errors: the service or the database is unavailable, or the run was stopped. */
  async #ingest(position: number): Promise<DocumentOutcome<IngestedDocument>> {
    try {
      const opened = await this.#open();
      const steps = opened.document(position, this.#stop.signal);
      for (;;) {
        const step = await steps.next();
        if (!step.done) this.#note(position, step.value);
        else if (step.value instanceof MegaNestError) return { error: step.value.toBody() };
        else return { stored: step.value };
      }
    } catch (thrown) {
      const error = MegaNestError.from(thrown, 'dataprep');
      if (this.#stop.signal.aborted || ['service_unavailable', 'overloaded'].includes(error.code))
        throw error;
      logFailed(this.#sources[position]!, error);
      return { error: error.toBody() };
    }
  }

  #note(position: number, progress: IngestProgress): void {
    this.#latest = progress;
    if (progress.stage !== 'reading' && this.#reading.delete(position)) this.#wake();
  }

  #open(): Promise<OpenedIngest> {
    const { signal } = this.#stop;
    const call = { signal, deadline: Date.now() + runTimeoutMs, requestId: this.job.id, comeBackMs };
    this.#opening ??= this.parts.ingests.open(this.job.request, call).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      const progress = { latest: this.#latest };
      const isWanted = await this.parts.documents.renew(this.#share, [...this.#held], progress);
      if (!isWanted) this.#stop.abort();
    } catch {
      // The next report tries again.
    } finally {
      this.#isRenewing = false;
      this.#wake(true);
    }
  }

  async #fail(error: MegaNestError): Promise<void> {
    const end = { state: 'failed' as const, progress: { latest: this.#latest }, error: error.toBody() };
    const request = await this.parts.jobs.finish(this.job.id, end);
    if (request) await this.parts.discard(request);
  }

  /** Ends the documents of this process, stores their outcomes, and gives back the unfinished ones. */
  async #leave(): Promise<void> {
    this.#stop.abort();
    while (this.#working.size > 0) await new Promise<void>((resolve) => (this.#wake = () => resolve()));
    // A document that cannot be given back is claimed by another process after a while.
    const leave = async () => {
      if (this.#ended.length > 0) await this.#advance(0);
      if (this.#held.size > 0) await this.parts.documents.release(this.#share);
    };
    await leave().catch(() => undefined);
  }
}

const sumOf = (numbers: Iterable<number>) => [...numbers].reduce((sum, number) => sum + number, 0);

/** The end of a job with these outcomes. */
function endOf(
  sources: readonly IngestSource[],
  outcomes: readonly DocumentOutcome<IngestedDocument>[],
): JobEnd<JobProgress> {
  try {
    const given = outcomes.map((outcome) =>
      'stored' in outcome ? outcome.stored : MegaNestError.fromBody(outcome.error),
    );
    return { state: 'succeeded', progress: { latest: resultOf(sources, given) } };
  } catch (error) {
    return { state: 'failed', error: errorOf(error) };
  }
}

function errorOf(error: unknown): ErrorBody {
  return MegaNestError.from(error, 'dataprep').toBody();
}

function setAside(filename: string, param: string): MegaNestError {
  const detail = `${maxDocumentAttempts} processes ended while they worked on ${filename}; it was not stored`;
  return new MegaNestError('service_unavailable', { service: 'dataprep', detail, param });
}
