import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

interface LockContent extends ProcessIdentity {
  nonce: string;
  /** Where its process id means something: a boot of a machine and a namespace of processes, which a container has of its own. */
  space?: string;
  /** What holds it, for people: "launcher". */
  holder: string;
}

/** Thrown when a lock belongs to a live process; `pid` names it. */
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
  /** Named in the error of those who come second. */
  holder: string;
  /** How long to wait for the holder to release it, in milliseconds. Default 0: fail at once. */
  waitMs?: number;
  /** Silence after which a holder that cannot be seen from here counts as dead. Default 10,000. */
  silenceMs?: number;
}

const defaultSilenceMs = 10_000;
/** Signs of life of a holder in that time. */
const beatsInSilence = 5;

/** Empty where the system does not tell; then every process can be seen. */
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

/** Whether the holder lives. One of another container or machine is seen by its beats alone, which are waited for. */
async function isAlive(path: string, holder: LockContent, silenceMs: number): Promise<boolean> {
  if ((holder.space ?? ownSpace) === ownSpace) return isRunning(holder);
  const first = await lastBeat(path);
  const deadline = Date.now() + silenceMs;
  while (Date.now() < deadline) {
    await delay(silenceMs / beatsInSilence / 2);
    const latest = await lastBeat(path);
    // Released meanwhile.
    if (latest === undefined) return false;
    if (latest !== first) return true;
  }
  return false;
}

/** Says until `stop` that the holder lives. */
function beat(path: string, silenceMs: number): () => void {
  const timer = setInterval(() => {
    const now = new Date();
    // A lock that is gone, or a full disk, is no reason to end.
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

/** Moves a dead process's lock aside; when another process was quicker, its fresh lock is put back. */
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

/** Creates the lock with its content in one step: `link` fails when the name exists. */
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
 * Takes an exclusive lock that survives as a file and dies with its process: a lock whose process is gone (kill -9)
 * is taken over. A process of another container is not seen from here: its lock holds as long as it is touched, every two seconds. Errors: LockHeldError when a live process holds it for longer than `waitMs`.
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
