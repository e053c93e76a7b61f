import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { builtFile } from '#paths';
import { readerReady, type PreparationOutcome, type PreparationTask } from './reader-messages.js';

const megabyte = 1024 * 1024;
/** V8's own limit lies below that of the process, so that most documents that are too large end with its message. */
const heapShare = 0.75;

/** A process that reads documents, one at a time. It ends with a task that fails it: it is never asked again. */
export class ReaderProcess {
  readonly #child: ChildProcess;
  readonly #ready: Promise<unknown>;
  readonly #ended: Promise<unknown>;

  constructor(private readonly maxMemoryBytes: number) {
    this.#child = fork(builtFile('reader.worker'), [JSON.stringify({ maxMemoryBytes })], {
      // Neither keys nor the database's address reach a parser. No inherited flags: they are the service's.
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

  /** False once it has ended. */
  get isAlive(): boolean {
    return this.#child.connected && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Errors: why the document has no outcome, for the end of a sentence. */
  async run(task: PreparationTask, signal: AbortSignal): Promise<PreparationOutcome> {
    this.#child.channel?.ref();
    try {
      return await this.#run(task, signal);
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

  async #run(task: PreparationTask, signal: AbortSignal): Promise<PreparationOutcome> {
    const stop = new AbortController();
    const stopped = once(signal, 'abort', { signal: stop.signal }).then(() =>
      Promise.reject(new Error('stopped')),
    );
    const ended = this.#ended.then(() => Promise.reject(new Error(this.#reasonOfEnd())));
    try {
      signal.throwIfAborted();
      const [greeting] = (await Promise.race([this.#ready, stopped, ended])) as [unknown];
      if (greeting !== readerReady) throw new Error('its reader did not start');
      const answer = once(this.#child, 'message', { signal: stop.signal });
      this.#child.send(task);
      const [outcome] = (await Promise.race([answer, stopped, ended])) as [PreparationOutcome];
      return outcome;
    } finally {
      stop.abort();
      for (const left of [stopped, ended]) left.catch(() => undefined);
    }
  }

  #reasonOfEnd(): string {
    const { exitCode, signalCode } = this.#child;
    const megabytes = Math.floor(this.maxMemoryBytes / megabyte);
    const isOverLimit = signalCode === 'SIGKILL' || signalCode === 'SIGABRT' || exitCode === 134;
    return isOverLimit ? `it takes more than ${megabytes} MB of memory` : 'its reader ended early';
  }
}
