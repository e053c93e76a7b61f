import { getPriority, setPriority } from 'node:os';

/** Of Linux's 19 steps below what is usual; enough for others to go first, and not to be starved by them. */
const niceness = 5;

/**
 * Lets this thread, and those that it starts, wait behind the others of the machine where all want a core: what computes for
 * seconds loses nothing by it, and what answers people is not held up. On Linux a thread has a priority of its own, and 0
 * names the calling one; elsewhere that would be the whole process, and nothing happens.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, Math.max(getPriority(0), niceness));
  } catch {
    // A sandbox may forbid it; the work is the same.
  }
}
