import { getPriority, setPriority } from 'node:os';

/** Nice value, of at most 19 on Linux: other threads run first, but do not starve this one. */
const niceness = 5;

/**
 * Lowers the priority of this thread and of the threads that it starts, so that long computations do not delay the
 * threads that answer requests. On Linux each thread has its own priority, and 0 means the calling thread. On other
 * systems 0 means the whole process, so the function does nothing there.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, Math.max(getPriority(0), niceness));
  } catch {
    // A sandbox may forbid it; the thread then keeps the normal priority.
  }
}
