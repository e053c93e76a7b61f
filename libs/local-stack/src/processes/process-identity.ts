import { readFileSync } from 'node:fs';

/** One run of one process: a pid alone may have been given to another program since. */
export interface ProcessIdentity {
  pid: number;
  /** Start time in kernel ticks since boot where the system tells it (Linux); empty elsewhere. */
  startedAt: string;
}

/** Start time from /proc: the 22nd field of `stat`, counted after the command, which may hold spaces and brackets. */
function readStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'zombie' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

/** Identity of the process `pid` as of now. */
export function identifyProcess(pid: number): ProcessIdentity {
  return { pid, startedAt: readStartTime(pid) };
}

/** Whether exactly that run of that process still exists (a zombie does not count). */
export function isRunning(identity: ProcessIdentity): boolean {
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return readStartTime(identity.pid) === identity.startedAt;
}
