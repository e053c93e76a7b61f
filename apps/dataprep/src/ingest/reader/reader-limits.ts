import type { PreparationTask } from '../prepare-document.js';

/** The signal that ends a reader process whose task takes too much processor time. */
export const outOfProcessorTime = 'SIGVTALRM';

/** Message to the guard thread of a reader process: the processor time at which the process must end; null between tasks. */
export type ReaderDeadline = number | null;

/** Processor time of this process, of all threads. */
export function processorTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Limits of a reader process. It is killed when it exceeds one. */
export interface ReaderLimits {
  /** Resident memory of the whole process, including buffers. */
  maxMemoryBytes: number;
}

/** A task with its limit. */
export interface ReaderTask extends PreparationTask {
  /** Processor time of all threads of the reader process, from the arrival of the task. */
  processorMs: number;
}
