import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

interface LockContent extends ProcessIdentity {
  nonce: string;
  /** Space in which the process id is valid: one boot of a machine and one PID namespace. A container has its own. */
  space?: string;
  /** Name of the holder for messages, such as "launcher". */
  holder: string;
}

/** A live process holds the lock. */
export class LockHeldError extends Error {
  constructor(
    readonly path: string,
    readonly holder: string,
    readonly pid: number,
  ) {
    super(`${path} is held by ${holder} (process ${pid})`);
    this.name = 'LockHeldError';
  }
}

export interface FileLock {
  release(): Promise<void>;
}

export interface FileLockOptions {
  /** Name of this holder, for the error of another process that wants the lock. */
  holder: string;
  /** Milliseconds to wait until the holder releases the lock. Default 0: fail at once. */
  waitMs?: number;
  /** Milliseconds without a sign of life after which an invisible holder counts as dead. Default 10,000. */
  silenceMs?: number;
}

const defaultSilenceMs = 10_000;
/** Signs of life of a holder in that time, so that a late one is not fatal. */
const beatsInSilence = 5;

/** Space of this process; empty if the system does not provide it. Every process counts as visible then. */
function processSpace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

const ownSpace = processSpace();

const lastBeat = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

/** Whether the holder is alive. For a holder in another container or machine this waits for its next sign of life. */
async function isAlive(path: string, holder: LockContent, silenceMs: number): Promise<boolean> {
  if ((holder.space ?? ownSpace) === ownSpace) return isRunning(holder);
  const first = await lastBeat(path);
  const deadline = Date.now() + silenceMs;
  while (Date.now() < deadline) {
    await delay(silenceMs / beatsInSilence / 2);
    const latest = await lastBeat(path);
    // The lock was released in the meantime.
    if (latest === undefined) return false;
    if (latest !== first) return true;
  }
  return false;
}

/** Touches the lock regularly as a sign of life. Returns a function that stops this. */
function beat(path: string, silenceMs: number): () => void {
  const timer = setInterval(() => {
    const now = new Date();
    // A missing lock or a full disk must not end the process.
    void utimes(path, now, now).catch(() => undefined);
  }, silenceMs / beatsInSilence);
  timer.unref();
  return () => clearInterval(timer);
}

async function readLock(path: string): Promise<LockContent | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as LockContent;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${path} is not a lock file; remove it if no other MegaNest uses this directory`, {
      cause: error,
    });
  }
}

/** Removes the lock of a dead process. If another process has already replaced the lock, the new lock is restored. */
async function removeStale(path: string, stale: LockContent): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await readLock(aside);
  if (moved !== undefined && moved.nonce !== stale.nonce) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

/** Creates the lock with its content in one step: `link` fails if the name exists. */
async function tryCreate(path: string, content: LockContent): Promise<boolean> {
  const draft = `${path}.${content.nonce}`;
  await writeFile(draft, JSON.stringify(content));
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Acquires an exclusive lock, which is a file. The lock of a dead process (kill -9) is taken over. A process in another
 * container is not visible: its lock is valid while that process touches it, every two seconds. Errors: LockHeldError
 * if a live process holds the lock for longer than `waitMs`.
 */
export async function acquireFileLock(path: string, options: FileLockOptions): Promise<FileLock> {
  await mkdir(dirname(path), { recursive: true });
  const { holder, silenceMs = defaultSilenceMs } = options;
  const content = { ...identifyProcess(process.pid), nonce: randomUUID(), space: ownSpace, holder };
  const deadline = Date.now() + (options.waitMs ?? 0);
  while (!(await tryCreate(path, content))) {
    const current = await readLock(path);
    if (current === undefined) continue;
    if (!(await isAlive(path, current, silenceMs))) await removeStale(path, current);
    else if (Date.now() >= deadline) throw new LockHeldError(path, current.holder, current.pid);
    else await delay(50);
  }
  const stop = beat(path, silenceMs);
  return {
    release: async () => {
      stop();
      if ((await readLock(path))?.nonce === content.nonce) await rm(path, { force: true });
    },
  };
}

/** Identity of a process. The pid alone is not enough, because the system may reuse it. */
export interface ProcessIdentity {
  pid: number;
  /** Start time in kernel ticks since boot on Linux; empty on other systems. */
  startedAt: string;
}

/** Start time from /proc: field 22 of `stat`, counted after the command, which may contain spaces and brackets. */
function readStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'zombie' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

/** Identity of the process that has `pid` now. */
export function identifyProcess(pid: number): ProcessIdentity {
  return { pid, startedAt: readStartTime(pid) };
}

/** Whether the process with this identity still exists. A zombie does not count. */
export function isRunning(identity: ProcessIdentity): boolean {
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return readStartTime(identity.pid) === identity.startedAt;
}
