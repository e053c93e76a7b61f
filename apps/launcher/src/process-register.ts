import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identifyProcess, isRunning, type ProcessIdentity } from '#platform/local-stack';

interface RegisteredProcess extends ProcessIdentity {
  name: string;
}

/** Reads the register of a launcher; an empty list if the file is missing or damaged. */
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

/** Register of the launcher's children on disk, so that the next launcher can end the children of a killed one. */
export class ProcessRegister {
  private readonly running = new Map<string, RegisteredProcess>();

  /** `noticeMs`: time in which children must notice that their launcher was killed, and exit. */
  constructor(
    private readonly path: string,
    private readonly noticeMs = 6_000,
  ) {}

  /**
   * Waits until the children of a killed launcher on the same data directory have exited, and kills the remaining ones.
   * Returns the names of these children.
   */
  async endLeftovers(): Promise<string[]> {
    const leftovers = readRegister(this.path).filter(isRunning);
    await Promise.all(leftovers.map((leftover) => endLeftover(leftover, Date.now() + this.noticeMs)));
    return leftovers.map(({ name }) => name);
  }

  /**
   * Registers a started child in place of its earlier run. Returns false if the file cannot be written: the next
   * launcher then does not know this child if this launcher is killed. The child still ends with its parent.
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

  /** Removes the register after all children have ended. */
  clear(): void {
    rmSync(this.path, { force: true });
  }
}
