import { MegaNestError } from '#contracts';
import { WorkerChannel } from './worker-channel.js';

/**
 * A thread for work that a caller can make slow: one job after another, each with a limit of processor
 * time (see {@link afterProcessorTime}). A job that takes longer ends the thread; a new one starts, and the next jobs go on.
 */
export class TimedWorker<Payload, Result> {
  private channel?: WorkerChannel<undefined, Payload, never, Result>;
  private last: Promise<unknown> = Promise.resolve();
  /** Resolves when the thread of a job that took too long has ended. */
  private ended: Promise<void> = Promise.resolve();

  /** `entry`: the file of the thread, looked for when the first job comes. */
  constructor(
    private readonly entry: () => string,
    private readonly limitMs: number,
  ) {}

  /** Errors: those of the job; what `tooLong` makes where it takes longer than the limit; cancelled. */
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

/** A process that gets little processor time is given this many times the limit. */
const mostPatience = 12;

/**
 * Calls back when this process has used `limitMs` of processor time: on a busy machine a thread may wait for seconds before it
 * computes for milliseconds. Other threads of the process count too, so that the time is never shorter than `limitMs` and never
 * longer than twelve times that. Returns the end of the watch.
 * @param processorMs Processor time that this process has used.
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
