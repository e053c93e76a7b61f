import { readFileSync } from 'node:fs';

/** Milliseconds of a clock tick of `/proc`: USER_HZ is 100 on all architectures that Node runs on. */
const tickMs = 10;

/**
 * Milliseconds of processor time that a process has used, in user and kernel mode. Undefined without `/proc` (macOS) and
 * for a process that has ended. Source: proc_pid_stat(5), fields 14 and 15.
 */
export function processorMsOf(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program is in parentheses and may contain spaces; the state, field 3, comes after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return undefined;
  }
}

/**
 * How often the main thread of a process has woken up. It rises while an event loop turns, and not while the thread waits for
 * ever, is stopped or computes. Undefined without `/proc` (macOS) and for a process that has ended. Source: proc_pid_status(5).
 */
export function wakeupsOf(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    const found = /^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found ? Number(found[1]) : undefined;
  } catch {
    return undefined;
  }
}
