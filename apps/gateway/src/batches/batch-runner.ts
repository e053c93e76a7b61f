import { MegaNestError } from '#platform/contracts';
import { FairTurns } from '#platform/foundation';
import { createLogger, Drain } from '#platform/service-kit';
import { BatchesRepository, type BatchRequest, type BatchResult, type StoredBatch } from '#platform/storage';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { BatchFiles } from './batch-files.js';
import { OwnRequests } from './own-requests.js';
import { sendPatiently } from './send-patiently.js';
import { BatchFileReader } from './read-batch-file.js';

/** Requests of all batches, and of one owner's batches, that one gateway sends at the same time. */
const turnLimits = {
  service: 'gateway',
  what: 'requests of batches',
  slots: 4,
  slotsOfOne: 2,
  waitingOfOne: 1_000,
};
/** Requests of one batch that run or wait for their turn. */
const requestsAtOnce = 2;
/** Batches that one gateway works on. */
const batchesAtOnce = 16;
const keptMs = 30 * 86_400_000;
const retentionMs = 3_600_000;

/** A batch that this process works on. */
interface Run {
  readonly id: string;
  readonly leaseOwner: string;
  /** Ends the requests that run: the batch was cancelled, or the lease is lost. */
  readonly stopping: AbortController;
}

/** Works on batches, and goes on with those of a gateway that has stopped. */
@Injectable()
export class BatchRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger;
  readonly #turns = new FairTurns(turnLimits);
  readonly #runs = new Map<string, { run: Run; done: Promise<void> }>();
  #timer: NodeJS.Timeout | undefined;
  #retention: NodeJS.Timeout | undefined;
  #claim: Promise<void> = Promise.resolve();

  constructor(
    @Inject(BatchesRepository) private readonly batches: BatchesRepository,
    @Inject(OwnRequests) private readonly requests: OwnRequests,
    @Inject(BatchFiles) private readonly files: BatchFiles,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Drain) private readonly drain: Drain,
  ) {
    this.#logger = createLogger('gateway', environment.LOG_LEVEL);
    drain.onBegin(() => this.#stop());
  }

  onApplicationBootstrap(): void {
    this.wake();
    this.#timer = setInterval(() => this.wake(), this.environment.RESPONSES_LEASE_MS / 3).unref();
    const removeOld = () =>
      void this.batches.deleteOlderThan(keptMs).catch((error: unknown) => {
        this.#logger.warn({ err: error as Error }, 'could not remove old batches');
      });
    this.#retention = setInterval(removeOld, retentionMs).unref();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#stop();
  }

  /** Looks for batches to work on, after a new one and from time to time. */
  wake(): void {
    this.#claim = this.#claim
      .then(() => this.#takeMore())
      .catch((error: unknown) => this.#logger.warn({ err: error as Error }, 'could not look for batches'));
  }

  /** Notices a cancellation at once, if this process works on the batch. */
  cancelled(id: string): void {
    this.#runs.get(id)?.run.stopping.abort();
    this.wake();
  }

  async #takeMore(): Promise<void> {
    const limit = batchesAtOnce - this.#runs.size;
    if (this.drain.begun || limit <= 0) return;
    const leaseOwner = randomUUID();
    const claimed = await this.batches.claim(leaseOwner, this.environment.RESPONSES_LEASE_MS, {
      limit,
      working: [...this.#runs.keys()],
    });
    for (const { id } of claimed) {
      const run = { id, leaseOwner, stopping: new AbortController() };
      const done = this.#work(run)
        .catch((error: unknown) =>
          this.#logger.warn({ err: error as Error, batch: id }, 'a batch was interrupted'),
        )
        .finally(() => this.#runs.delete(id));
      this.#runs.set(id, { run, done });
    }
  }

  async #stop(): Promise<void> {
    clearInterval(this.#timer);
    clearInterval(this.#retention);
    await this.#claim;
    const runs = [...this.#runs.values()];
    for (const { run } of runs) run.stopping.abort();
    await Promise.all(runs.map(({ done }) => done));
  }

  /** Takes a batch from state to state, until it is finished or the lease is lost. */
  async #work(run: Run): Promise<void> {
    const { id, leaseOwner } = run;
    const { RESPONSES_LEASE_MS: leaseMs } = this.environment;
    const beat = async () => {
      const batch = await this.batches.heartbeat(id, leaseOwner, leaseMs);
      if (!batch || batch.status === 'cancelling') run.stopping.abort();
    };
    const heart = setInterval(() => void beat().catch(() => undefined), leaseMs / 3);
    try {
      for (;;) {
        const batch = await this.batches.heartbeat(id, leaseOwner, leaseMs);
        if (!batch || this.drain.begun) return;
        if (batch.status === 'validating') await this.#validate(batch, run);
        else if (batch.status === 'in_progress') await this.#answer(batch, run);
        else if (batch.status === 'finalizing') await this.#finish(batch, run, 'completed');
        else {
          await this.batches.endWaiting(id, 'cancelled');
          await this.#finish(batch, run, 'cancelled');
        }
      }
    } finally {
      clearInterval(heart);
      await this.batches.release([id], leaseOwner).catch(() => undefined);
    }
  }

  /** Reads the requests of the input file. Mistakes in it end the batch. */
  async #validate(batch: StoredBatch, { leaseOwner }: Run): Promise<void> {
    const { id, endpoint, inputFileId } = batch;
    const reader = new BatchFileReader({ endpoint, maxLineBytes: this.environment.BODY_LIMIT_BYTES });
    const content = await this.files.open(batch);
    if (!content)
      reader.problems.push({
        code: 'file_not_found',
        message: `The file ${inputFileId} is not there any more.`,
        line: null,
        param: 'input_file_id',
      });
    else if (!(await this.batches.putRequests(id, leaseOwner, reader.read(content)))) return;
    const { problems } = reader;
    await this.batches.advance(
      id,
      leaseOwner,
      problems.length > 0 ? { status: 'failed', errors: problems } : { status: 'in_progress' },
    );
  }

  /** Sends the requests that wait, a few at a time, until all are answered or the batch expires. */
  async #answer(batch: StoredBatch, run: Run): Promise<void> {
    const { id, leaseOwner } = run;
    const running = new Map<number, Promise<void>>();
    const isOver = () => run.stopping.signal.aborted || Date.now() >= batch.expiresAt.getTime();
    const failures: unknown[] = [];
    while (!isOver() && failures.length === 0) {
      const free = requestsAtOnce - running.size;
      const waiting = free > 0 ? await this.batches.waiting(id, free, [...running.keys()]) : [];
      for (const request of waiting) {
        const sent = this.#send(batch, request, run)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => running.delete(request.line));
        running.set(request.line, sent);
      }
      if (running.size === 0) break;
      await Promise.race(running.values());
    }
    await Promise.all(running.values());
    if (failures.length > 0 && !run.stopping.signal.aborted) throw failures[0];
    if (run.stopping.signal.aborted) return;
    if (Date.now() >= batch.expiresAt.getTime()) {
      await this.batches.endWaiting(id, 'expired');
      await this.#finish(batch, run, 'expired');
    } else await this.batches.advance(id, leaseOwner, { status: 'finalizing' });
  }

  /** Sends a request and keeps its answer. A request that was stopped waits for the next run. */
  async #send(
    batch: StoredBatch,
    { line, body }: BatchRequest,
    { id, leaseOwner, stopping }: Run,
  ): Promise<void> {
    const { signal } = stopping;
    let result: BatchResult;
    try {
      result = await this.#turns.run(() => sendPatiently(this.requests, { batch, body, signal }), {
        client: batch.owner,
        signal,
      });
    } catch (error) {
      if (signal.aborted) return;
      result = refusal(error);
    }
    if (signal.aborted) return;
    const state = result.status < 400 ? 'succeeded' : 'failed';
    const isStored = await this.batches.answer(id, leaseOwner, { line, state, result });
    if (!isStored) stopping.abort();
  }

  /** Writes the files of the answers, and ends the batch. Messages batches are read from their answers. */
  async #finish(
    batch: StoredBatch,
    { id, leaseOwner }: Run,
    status: 'completed' | 'expired' | 'cancelled',
  ): Promise<void> {
    if (batch.dialect === 'anthropic') return void (await this.batches.advance(id, leaseOwner, { status }));
    const outputFileId = await this.files.write(batch, 'output', ['succeeded']);
    const errorFileId = await this.files.write(batch, 'error', ['failed', 'cancelled', 'expired']);
    const ended = await this.batches.advance(id, leaseOwner, { status, outputFileId, errorFileId });
    if (ended) return;
    // Another process ends the batch, with files of its own.
    for (const file of [outputFileId, errorFileId]) if (file !== null) await this.files.delete(batch, file);
  }
}

function refusal(error: unknown): BatchResult {
  const refused = MegaNestError.from(error, 'gateway');
  return { status: refused.status, requestId: '', body: { error: { ...refused.toBody() } } };
}
