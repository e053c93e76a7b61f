import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identifyProcess, isRunning, type ProcessIdentity } from '#local-stack';

interface RegisteredProcess extends ProcessIdentity {
  name: string;
}

/** The processes that a launcher noted at a path; none where the file is not there or not whole. */
export function readRegister(path: string): RegisteredProcess[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RegisteredProcess[];
  } catch {
    return [];
  }
}

async function endLeftover(leftover: RegisteredProcess, deadline: number): Promise<void> {
  while (isRunning(leftover) && Date.now() < deadline) await delay(50);
  if (isRunning(leftover)) process.kill(leftover.pid, 'SIGKILL');
  while (isRunning(leftover)) await delay(20);
}

/** The launcher's children, on disk, so that the next launcher can end what this one may leave behind. */
export class ProcessRegister {
  private readonly running = new Map<string, RegisteredProcess>();

  /** `noticeMs`: how long children of a launcher that was killed may take to notice it and leave. */
  constructor(
    private readonly path: string,
    private readonly noticeMs = 6_000,
  ) {}

  /**
   * Waits for children that a killed launcher left on the same data directory; those that do not leave by themselves are
   * ended. Returns their names.
   */
  async endLeftovers(): Promise<string[]> {
    const leftovers = readRegister(this.path).filter(isRunning);
    await Promise.all(leftovers.map((leftover) => endLeftover(leftover, Date.now() + this.noticeMs)));
    return leftovers.map(({ name }) => name);
  }

  /**
   * Notes a child that was started, in place of its earlier run. False: the disk takes no file, so that a launcher that follows
   * a killed one does not know this child; it ends with its parent all the same.
   */
  add(name: string, pid: number): boolean {
    this.running.set(name, { name, ...identifyProcess(pid) });
    const draft = `${this.path}.draft`;
    try {
      writeFileSync(draft, JSON.stringify([...this.running.values()]));
      renameSync(draft, this.path);
      return true;
    } catch {
      return false;
    }
  }

  /** All children are gone. */
  clear(): void {
    rmSync(this.path, { force: true });
  }
}
