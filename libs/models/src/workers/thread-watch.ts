import type { Worker } from 'node:worker_threads';

/** How long a thread of a model may stand still, where nothing else is set. */
export const defaultHangLimitMs = 60_000;

/** How often a thread shows that it moves, and how often that is looked at. */
const beatMs = 1_000;

/** The memory through which a thread shows that it moves. */
export type Pulse = Int32Array<SharedArrayBuffer>;

/** Made by the owner of a thread, for `workerData`. */
export function createPulse(): Pulse {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** In the thread: shows that its event loop moves. A thread that has nothing else to do may end all the same. */
export function beat(pulse: Pulse): void {
  setInterval(() => Atomics.add(pulse, 0, 1), beatMs).unref();
}

/**
 * In the owner: ends a thread whose event loop stands still for `limitMs`, whatever holds it up. The time counts only while
 * this thread moves itself, so that a process that was suspended loses nothing. A thread that is inside native code cannot be
 * ended alone; then `onStuck` is called after `onHang`. Returns the end of the watch.
 */
export function watchThread(
  worker: Worker,
  pulse: Pulse,
  { limitMs, onHang, onStuck }: { limitMs: number; onHang: () => void; onStuck: () => void },
): () => void {
  let seen = Atomics.load(pulse, 0);
  let quietMs = 0;
  let stuck: NodeJS.Timeout | undefined;
  const every = Math.min(beatMs, Math.max(limitMs / 4, 1));
  const watch = setInterval(() => {
    const now = Atomics.load(pulse, 0);
    quietMs = now === seen ? quietMs + every : 0;
    seen = now;
    if (quietMs < limitMs) return;
    clearInterval(watch);
    onHang();
    stuck = setTimeout(onStuck, Math.min(limitMs, 5_000));
    void worker.terminate();
  }, every);
  watch.unref();
  return () => {
    clearInterval(watch);
    clearTimeout(stuck);
  };
}
