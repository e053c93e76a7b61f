import { FairTurns } from '#platform/foundation';
import { WorkerChannel } from './worker-channel.js';

/** Waiting jobs of one client; further ones are refused. */
const waitingOfOne = 64;

/** A thread for one job at a time, which is replaced after a job that took too long. */
interface Lane<Payload, Result> {
  channel?: WorkerChannel<undefined, Payload, never, Result>;
  /** Resolves when the thread of a job that took too long has ended. */
  ended: Promise<void>;
}

/**
 * Threads for work that a caller can make slow. Each runs one job at a time, with a limit of processor time (see
 * {@link afterProcessorTime}). After a job that exceeds the limit, a new thread runs the next jobs. Clients take turns,
 * and a client never takes both threads: the second one starts when two clients have jobs at the same time.
 */
export class TimedWorker<Payload, Result> {
  private readonly turns = new FairTurns({
    service: 'inference',
    what: 'checks',
    slots: 2,
    slotsOfOne: 1,
    waitingOfOne,
  });
  private readonly lanes: Lane<Payload, Result>[] = [];
  private readonly free: Lane<Payload, Result>[] = [];

  /** `entry`: returns the file of the thread; called for the first job. */
  constructor(
    private readonly entry: () => string,
    private readonly limitMs: number,
  ) {}

  /**
   * Runs a job. Errors: the errors of the job, the error of `tooLong` if the job exceeds the limit, cancelled, overloaded.
   */
  run(payload: Payload, tooLong: () => Error, signal?: AbortSignal): Promise<Result> {
    return this.turns.run(
      async () => {
        const lane = this.free.pop() ?? this.open();
        try {
          return await this.runOn(lane, payload, tooLong);
        } finally {
          this.free.push(lane);
        }
      },
      signal ? { signal } : {},
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.lanes.flatMap(({ channel }) => channel?.close() ?? []));
  }

  private open(): Lane<Payload, Result> {
    const lane: Lane<Payload, Result> = { ended: Promise.resolve() };
    this.lanes.push(lane);
    return lane;
  }

  private async runOn(lane: Lane<Payload, Result>, payload: Payload, tooLong: () => Error): Promise<Result> {
    lane.channel ??= new WorkerChannel(this.entry(), undefined);
    const { channel } = lane;
    await lane.ended;
    await channel.start();
    let stop: (() => void) | undefined;
    const limit = new Promise<never>((_resolve, reject) => {
      stop = afterProcessorTime(this.limitMs, () => {
        lane.ended = channel.end();
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
const maxPatience = 12;

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
    const leftMs = Math.min(limitMs - (processorMs() - before), limitMs * maxPatience - passedMs);
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
