import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Of Linux's 19 steps below what is usual; enough for others to go first, and not to be starved by them. */
const niceness = 5;

/**
 * Lets this thread, and those that it starts, wait behind the others of the machine where all want a core: what computes for
 * seconds loses nothing by it, and what answers people is not held up. On Linux a thread has a priority of its own; elsewhere
 * nothing happens.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  setPriority(thread, niceness);
}
