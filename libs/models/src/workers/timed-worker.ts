import { MegaNestError } from '#contracts';
import { WorkerChannel } from './worker-channel.js';

/**
 * A thread for work that a caller can make slow. It runs one job at a time, each with a limit of processor time (see
 * {@link afterProcessorTime}). After a job that exceeds the limit, a new thread runs the next jobs.
 */
export class TimedWorker<Payload, Result> {
  private channel?: WorkerChannel<undefined, Payload, never, Result>;
  private last: Promise<unknown> = Promise.resolve();
  /** Resolves when the thread of a job that took too long has ended. */
  private ended: Promise<void> = Promise.resolve();

  /** `entry`: returns the file of the thread; called for the first job. */
  constructor(
    private readonly entry: () => string,
    private readonly limitMs: number,
  ) {}

  /** Runs a job. Errors: the errors of the job, the error of `tooLong` if the job exceeds the limit, cancelled. */
  run(payload: Payload, tooLong: () => Error, signal?: AbortSignal): Promise<Result> {
    const result = this.last.then(() => this.next(payload, tooLong, signal));
    this.last = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    await this.channel?.close();
  }

  private async next(payload: Payload, tooLong: () => Error, signal?: AbortSignal): Promise<Result> {
    if (signal?.aborted) throw new MegaNestError('cancelled');
    this.channel ??= new WorkerChannel(this.entry(), undefined);
    const { channel } = this;
    await this.ended;
    await channel.start();
    let stop: (() => void) | undefined;
    const limit = new Promise<never>((_resolve, reject) => {
      stop = afterProcessorTime(this.limitMs, () => {
        this.ended = channel.end();
        reject(tooLong());
      });
    });
    const result = channel.call(payload);
    result.catch(() => undefined);
    try {
      return await Promise.race([result, limit]);
    } finally {
      stop?.();
    }
  }
}

/** Maximum wall-clock time of a job, as a multiple of its limit of processor time. */
const mostPatience = 12;

/**
 * Calls back when this process has used `limitMs` of processor time, because on a busy machine a thread may wait for
 * seconds before it computes for milliseconds. Other threads of the process count too. The wall-clock time is at least
 * `limitMs` and at most twelve times that. Returns a function that ends the watch.
 * @param processorMs Returns the processor time that this process has used.
 */
export function afterProcessorTime(
  limitMs: number,
  callback: () => void,
  processorMs: () => number = usedByProcess,
): () => void {
  const before = processorMs();
  let passedMs = 0;
  let waitMs = limitMs;
  const look = () => {
    passedMs += waitMs;
    const leftMs = Math.min(limitMs - (processorMs() - before), limitMs * mostPatience - passedMs);
    if (leftMs <= 0) {
      callback();
      return;
    }
    waitMs = Math.max(1, leftMs);
    timer = setTimeout(look, waitMs);
  };
  let timer = setTimeout(look, waitMs);
  return () => clearTimeout(timer);
}

function usedByProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
