import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { ModelLoadError } from '../model/model-files.js';

/** State of a download; its process writes it for all processes that share the cache. */
const downloadSchema = z.object({
  model: z.string(),
  loadedBytes: z.number(),
  totalBytes: z.number().optional(),
});
type DownloadState = z.infer<typeof downloadSchema>;

const contentSchema = downloadSchema.extend({
  owner: z.string(),
  pid: z.int(),
  /** Boot id of the kernel and the process namespace, within which a pid is unique. */
  place: z.string(),
  /** Counter that each renewal of the lock increments. */
  beat: z.int(),
});
type LockContent = z.infer<typeof contentSchema>;

/** Interval at which a live holder rewrites its lock. */
const beatMs = 1_000;
/** A lock that does not change for this time belongs to a dead process, or to one that has lost its disk. */
const staleMs = 30_000;
const lookMs = 250;

/** Folder of the locks of a cache. */
function lockFolder(cache: string): string {
  return path.join(cache, '.meganest');
}

function lockPath(cache: string, id: string): string {
  return path.join(lockFolder(cache), `${id.replaceAll('/', '--')}.json`);
}

/** Lock for the download of a model, which one process holds at a time, also among containers that share a volume. */
export class DownloadLock {
  private beat = 0;
  private writing: Promise<void> = Promise.resolve();
  private readonly timer: NodeJS.Timeout;
  private readonly lost = new AbortController();

  private constructor(
    private readonly file: string,
    private readonly identity: Pick<LockContent, 'owner' | 'pid' | 'place'>,
    private state: DownloadState,
  ) {
    this.timer = setInterval(() => this.show(), beatMs).unref();
  }

  /**
   * Waits until no live process holds the lock. `onWait` gets the progress of the holder. A holder of the same kernel
   * and namespace whose process is gone is replaced at once, any other after 30 seconds without a renewal.
   */
  static async acquire(
    cache: string,
    id: string,
    onWait: (state: DownloadState) => void,
  ): Promise<DownloadLock> {
    const file = lockPath(cache, id);
    await mkdir(path.dirname(file), { recursive: true });
    const identity = { owner: randomUUID(), pid: process.pid, place: await thisPlace() };
    const state = { model: id, loadedBytes: 0 };
    let seen = '';
    let changedAt = performance.now();
    while (!(await create(file, { ...identity, ...state, beat: 0 }))) {
      const text = await readFile(file, 'utf8').catch(() => '');
      if (text !== seen) [seen, changedAt] = [text, performance.now()];
      const holder = parse(text);
      const isDead = holder !== undefined && holder.place === identity.place && !isRunning(holder.pid);
      if (isDead || performance.now() - changedAt > staleMs) await removeStale(file, text);
      else {
        if (holder) onWait(holder);
        await delay(lookMs);
      }
    }
    return new DownloadLock(file, identity, state);
  }

  /** Aborted when another process has taken the lock because this process did not renew it. */
  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /** Sets the progress of the download, which the next renewal writes to the lock. */
  update(state: DownloadState): void {
    this.state = state;
  }

  private show(): void {
    this.beat += 1;
    const content = { ...this.identity, ...this.state, beat: this.beat };
    this.writing = this.writing.then(() => this.write(content)).catch(() => undefined);
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    await this.writing;
    if (await this.isMine()) await rm(this.file, { force: true });
  }

  private async write(content: LockContent): Promise<void> {
    if (!(await this.isMine())) {
      clearInterval(this.timer);
      this.lost.abort(
        new ModelLoadError(`Another process has taken over the download of ${this.state.model}.`),
      );
      return;
    }
    const draft = `${this.file}.${this.identity.owner}`;
    await writeFile(draft, JSON.stringify(content));
    await rename(draft, this.file);
  }

  private async isMine(): Promise<boolean> {
    return parse(await readFile(this.file, 'utf8').catch(() => ''))?.owner === this.identity.owner;
  }
}

async function create(file: string, content: LockContent): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify(content), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the lock of a dead process. If another process has replaced it meanwhile, puts the new lock back. */
async function removeStale(file: string, stale: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch {
    return;
  }
  const moved = await readFile(aside, 'utf8').catch(() => stale);
  if (moved !== stale) await writeFile(file, moved, { flag: 'wx' }).catch(() => undefined);
  await rm(aside, { force: true });
}

/** Parses a lock file; undefined for a file that is still being written. */
function parse(text: string): LockContent | undefined {
  try {
    return contentSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Returns the same value in two processes only if a pid means the same process in both. */
async function thisPlace(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return [hostname(), boot.trim(), namespace].join(' ');
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A lock that was not renewed for this time is not listed as a download. */
const forgottenMs = 60_000;

/** Lists the running downloads of a cache, of this process and of the others that share it. */
export async function listDownloads(cache: string): Promise<DownloadState[]> {
  const folder = lockFolder(cache);
  const names = await readdir(folder).catch(() => []);
  const states = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => readState(path.join(folder, name)));
  return (await Promise.all(states)).filter((state) => state !== undefined);
}

async function readState(file: string): Promise<DownloadState | undefined> {
  try {
    const { mtimeMs } = await stat(file);
    const content = parse(await readFile(file, 'utf8'));
    if (content === undefined || Date.now() - mtimeMs > forgottenMs) return undefined;
    const { model, loadedBytes, totalBytes } = content;
    return { model, loadedBytes, ...(totalBytes !== undefined && { totalBytes }) };
  } catch {
    return undefined;
  }
}
