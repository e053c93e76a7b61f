import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { builtFile } from '#platform/foundation';
import {
  readerReady,
  type OnPart,
  type PreparationOutcome,
  type ReaderMessage,
} from '../prepare-document.js';
import { outOfProcessorTime, type ReaderTask } from './reader-limits.js';

/** A reader process did not answer. The message is the reason, worded for the end of a sentence. */
export class ReaderFailure extends Error {
  /** `limit`: the document is over a limit; `clock`: the machine was too slow; `reader`: the process ended or did not start. */
  constructor(
    message: string,
    readonly kind: 'limit' | 'clock' | 'reader',
    cause?: unknown,
  ) {
    super(message, { cause });
  }

  /** Another attempt may succeed. */
  get mayPass(): boolean {
    return this.kind !== 'limit';
  }
}

/** Listeners for what happens while a document is read. */
export interface ReadingWatch {
  /** Called before each page that is read as a picture. */
  onScan: () => void;
  onPart: OnPart;
}

const megabyte = 1024 * 1024;
/**
 * The heap limit of V8 is below the limit of the process, so that V8 itself stops most documents that are too large.
 */
const heapShare = 0.75;

/** A process that reads documents, one at a time. It is killed after a failed task and never used again. */
export class ReaderProcess {
  readonly #child: ChildProcess;
  readonly #ready: Promise<unknown>;
  readonly #ended: Promise<unknown>;

  constructor(private readonly maxMemoryBytes: number) {
    this.#child = fork(builtFile('reader.worker'), [JSON.stringify({ maxMemoryBytes })], {
      // A parser sees neither API keys nor the address of the database. Node flags of the service are not inherited.
      env: {},
      execArgv: [
        '--enable-source-maps',
        `--max-old-space-size=${Math.floor((maxMemoryBytes * heapShare) / megabyte)}`,
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#ended = once(this.#child, 'exit').catch((error: unknown) => error);
    this.#ready = Promise.race([once(this.#child, 'message'), this.#ended]);
    // An idle reader does not keep the service alive.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /** False after the process has ended. */
  get isAlive(): boolean {
    return this.#child.connected && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Errors: {@link ReaderFailure}. */
  async run(task: ReaderTask, signal: AbortSignal, watch: ReadingWatch): Promise<PreparationOutcome> {
    this.#child.channel?.ref();
    try {
      return await this.#run(task, signal, watch);
    } catch (error) {
      this.end();
      throw error;
    } finally {
      this.#child.channel?.unref();
    }
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }

  async #run(task: ReaderTask, signal: AbortSignal, watch: ReadingWatch): Promise<PreparationOutcome> {
    const stop = new AbortController();
    const stopped = once(signal, 'abort', { signal: stop.signal }).then(() =>
      Promise.reject(new Error('stopped')),
    );
    // Of this task alone: a promise that lives as long as the process would keep the documents of all races with it.
    const ended = once(this.#child, 'exit', { signal: stop.signal }).then(() =>
      Promise.reject(this.#failure(task)),
    );
    try {
      signal.throwIfAborted();
      if (!this.isAlive) throw this.#failure(task);
      const [greeting] = (await Promise.race([this.#ready, stopped, ended])) as [unknown];
      if (greeting !== readerReady) throw new ReaderFailure('its reader did not start', 'reader');
      const answer = this.#answer(stop.signal, watch);
      this.#child.send(task);
      return await Promise.race([answer, stopped, ended]);
    } finally {
      stop.abort();
      for (const left of [stopped, ended]) left.catch(() => undefined);
    }
  }

  /** The outcome of the task. Messages before it may follow each other at once. */
  #answer(signal: AbortSignal, { onScan, onPart }: ReadingWatch): Promise<PreparationOutcome> {
    return new Promise((resolve) => {
      const listen = (given: unknown) => {
        const message = given as ReaderMessage;
        if (message === 'scanned page') onScan();
        else if ('part' in message) onPart(message.part);
        else resolve(message);
      };
      this.#child.on('message', listen);
      signal.addEventListener('abort', () => this.#child.off('message', listen), { once: true });
    });
  }

  #failure({ processorMs }: ReaderTask): ReaderFailure {
    const { exitCode, signalCode } = this.#child;
    if (signalCode === outOfProcessorTime)
      return new ReaderFailure(`it takes more than ${processorMs / 1000} s of processor time`, 'limit');
    const isOverMemory = signalCode === 'SIGKILL' || signalCode === 'SIGABRT' || exitCode === 134;
    if (!isOverMemory) return new ReaderFailure('its reader ended early', 'reader');
    const megabytes = Math.floor(this.maxMemoryBytes / megabyte);
    return new ReaderFailure(`it takes more than ${megabytes} MB of memory`, 'limit');
  }
}
