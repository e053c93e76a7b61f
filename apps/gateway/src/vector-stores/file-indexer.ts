import { ingest, MegaNestError, type FileReference, type IngestedDocument } from '#platform/contracts';
import { uploadLimits, type UploadLimits } from '#api/dataprep-api';
import { ObjectStore, RpcClient } from '#platform/messaging';
import { createLogger, Drain } from '#platform/service-kit';
import { FilesRepository, IndexingLeasesRepository, type IndexingTask } from '#platform/storage';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { chunkWordsOf } from './vector-store.requests.js';

/** Timeout for the indexing of one file. */
const timeoutMs = 30 * 60_000;

/** Indexes a file through dataprep, which reads, splits, embeds and stores it in the collection of its vector store. */
@Injectable()
export class FileIngest {
  constructor(
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(RpcClient) private readonly rpc: RpcClient,
    @Inject(uploadLimits) private readonly limits: UploadLimits,
  ) {}

  /** Errors: the errors of dataprep; payload_too_large. */
  async run(task: IndexingTask, signal: AbortSignal): Promise<IngestedDocument> {
    const { maxFileBytes } = this.limits;
    if (task.bytes > maxFileBytes) {
      const what = `The file ${task.filename}`;
      throw new MegaNestError('payload_too_large', {
        what,
        limit: `${maxFileBytes} bytes for an indexed file`,
      });
    }
    const { mimeType } = task;
    const content = this.files.content({ id: task.fileId, bytes: task.bytes });
    const reference = await this.objects.put(content, { filename: documentName(task), mimeType });
    try {
      return await this.#ingest(task, reference, signal);
    } finally {
      await this.objects.delete(reference.objectId).catch(() => undefined);
    }
  }

  async #ingest(
    task: IndexingTask,
    reference: FileReference,
    signal: AbortSignal,
  ): Promise<IngestedDocument> {
    const request = {
      files: [reference],
      collection: task.vectorStoreId,
      owner: task.owner,
      progressEveryMs: 1_000,
      metadata: task.attributes,
      ...chunkWordsOf(task),
    };
    let documents: IngestedDocument[] | undefined;
    const options = { signal, deadline: Date.now() + timeoutMs };
    for await (const progress of this.rpc.stream(ingest, request, options))
      documents = progress.documents ?? documents;
    const [document] = documents ?? [];
    if (document) return document;
    throw new MegaNestError('bad_upstream', { service: 'dataprep', detail: 'it ended without a document' });
  }
}

/** A unique name for the document: files of a store may share a name, but documents of a collection may not. */
function documentName({ fileId, filename }: IndexingTask): string {
  return `${fileId}/${filename}`;
}

/** Limit for the files that one gateway indexes concurrently; dataprep reads two files at a time. */
const maxRunning = 2;

interface Running {
  abort: AbortController;
  done: Promise<void>;
}

/**
 * Indexes attached files of vector stores through dataprep. The tasks are rows in Postgres with leases. So this or
 * another gateway indexes a file again after a crash of its gateway or of dataprep.
 */
@Injectable()
export class FileIndexer implements OnModuleInit {
  /** Names this process in leases. */
  readonly #leaseOwner = randomUUID();
  readonly #running = new Map<string, Running>();
  readonly #logger;
  #timer: NodeJS.Timeout | undefined;
  #claiming = false;
  #again = false;
  #stopping = false;

  constructor(
    @Inject(IndexingLeasesRepository) private readonly leases: IndexingLeasesRepository,
    @Inject(FileIngest) private readonly ingests: FileIngest,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Drain) drain: Drain,
  ) {
    drain.onBegin(() => this.#stop());
    this.#logger = createLogger('gateway', environment.LOG_LEVEL);
  }

  onModuleInit(): void {
    this.wake();
    this.#timer = setInterval(() => this.wake(), this.#leaseMs / 3).unref();
  }

  /** Releases the leases of unfinished files at once, for another gateway or the next start of this one. */
  async #stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#timer);
    const running = [...this.#running.values()];
    for (const { abort } of running) abort.abort();
    await Promise.allSettled(running.map(({ done }) => done));
  }

  /** Looks for files to index now. */
  wake(): void {
    this.#again = true;
    if (this.#claiming) return;
    this.#claiming = true;
    void this.#claim()
      .catch((error: unknown) =>
        this.#logger.warn({ err: error as Error }, 'could not look for files to index'),
      )
      .finally(() => (this.#claiming = false));
  }

  async #claim(): Promise<void> {
    while (this.#again && !this.#stopping && this.#running.size < maxRunning) {
      this.#again = false;
      const free = maxRunning - this.#running.size;
      for (const task of await this.leases.claim(this.#leaseOwner, this.#leaseMs, free)) this.#start(task);
    }
  }

  #start(task: IndexingTask): void {
    const key = `${task.vectorStoreId}/${task.fileId}`;
    const abort = new AbortController();
    const done = this.#work(task, abort)
      .catch((error: unknown) =>
        this.#logger.warn({ err: error as Error, file: key }, 'could not settle a file'),
      )
      .finally(() => {
        this.#running.delete(key);
        this.wake();
      });
    this.#running.set(key, { abort, done });
  }

  async #work(task: IndexingTask, abort: AbortController): Promise<void> {
    const heartbeat = setInterval(() => void this.#beat(task, abort), Math.min(1_000, this.#leaseMs / 4));
    try {
      const { documentId } = await this.ingests.run(task, abort.signal);
      await this.leases.complete(this.#leaseOwner, task, documentId);
    } catch (error) {
      await this.#settle(task, MegaNestError.from(error, 'gateway'), abort.signal.aborted);
    } finally {
      clearInterval(heartbeat);
    }
  }

  /** Renews the lease of a file. A failed renewal does no harm; a lost lease stops the work. */
  async #beat(task: IndexingTask, abort: AbortController): Promise<void> {
    const held = await this.leases.heartbeat(this.#leaseOwner, task, this.#leaseMs).catch(() => true);
    if (!held) abort.abort();
  }

  async #settle(task: IndexingTask, error: MegaNestError, aborted: boolean): Promise<void> {
    if (aborted && !this.#stopping) return;
    if (aborted) {
      await this.leases.postpone(this.#leaseOwner, task, { pauseMs: 0, counted: false });
      return;
    }
    const pauseMs = pauseBeforeRetry(error, task.attempts);
    if (pauseMs !== undefined) {
      await this.leases.postpone(this.#leaseOwner, task, { pauseMs, counted: true });
      setTimeout(() => this.wake(), pauseMs + 50).unref();
      return;
    }
    const failure = indexingFailure(error, task);
    this.#logger.warn(
      { file: task.fileId, vectorStore: task.vectorStoreId, ...failure },
      'a file was not indexed',
    );
    await this.leases.fail(this.#leaseOwner, task, failure);
  }

  get #leaseMs(): number {
    return this.environment.INDEXING_LEASE_MS;
  }
}

/** Limit for the attempts to index a file. */
const maxAttempts = 8;
const maxPauseMs = 30_000;

/** OpenAI's `last_error`. */
export interface IndexingFailure {
  code: 'server_error' | 'unsupported_file' | 'invalid_file';
  message: string;
}

/** Milliseconds until the next attempt; undefined where the file caused the error or no attempts are left. */
export function pauseBeforeRetry(
  { status, retryAfter = 0 }: MegaNestError,
  attempts: number,
): number | undefined {
  const isFiles = status < 500 && status !== 429 && status !== 499;
  if (isFiles || attempts >= maxAttempts) return undefined;
  return Math.max(retryAfter * 1_000, Math.min(maxPauseMs, 250 * 2 ** attempts));
}

/** The error of a file that cannot be indexed, with the file's name as its owner knows it. */
export function indexingFailure(
  { code, status, message }: MegaNestError,
  { fileId }: { fileId: string },
): IndexingFailure {
  const told = message.replaceAll(`${fileId}/`, '');
  if (code === 'unsupported_file') return { code, message: told };
  return { code: status < 500 && status !== 429 ? 'invalid_file' : 'server_error', message: told };
}
