import { watch, type FSWatcher } from 'node:fs';
import type { ServiceRegistry } from '../definition/service-kind.js';
import { startTimer } from '../engine/timers.js';
import { buildCatalog, type MegaServiceCatalog } from './catalog.js';
import { readMegaServiceFiles } from './load.js';

export interface WatchOptions {
  directory: string;
  registry: ServiceRegistry;
  /** Called after each change of a file, with what is in force now. Must not throw. */
  onChange?: (catalog: MegaServiceCatalog) => void;
  /** Milliseconds of quiet before the files are read: editors write in several steps. Default 100. */
  quietMs?: number;
}

/** The mega services of a directory, kept up to date. */
export interface MegaServiceWatcher {
  /** What is in force now; a run that has started keeps the definition it was given. */
  current(): MegaServiceCatalog;
  /** Reads the files at once: where the file system reports no changes, or when the registry has grown. */
  reload(): Promise<MegaServiceCatalog>;
  close(): void;
}

/**
 * Loads the mega services of a directory and replaces them as a whole whenever a file changes. A file that breaks
 * keeps its earlier version and is listed in `errors`. Rejects where the directory cannot be read at the start.
 */
export async function watchMegaServices(options: WatchOptions): Promise<MegaServiceWatcher> {
  const watcher = new DirectoryWatcher(options);
  await watcher.open();
  return watcher;
}

class DirectoryWatcher implements MegaServiceWatcher {
  private catalog: MegaServiceCatalog = { definitions: new Map(), errors: new Map() };
  private seen = '';
  private watcher?: FSWatcher;
  private stopTimer = (): void => {};
  /** Reloads one after the other, so that an older reading never replaces a newer one. */
  private reloading: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: WatchOptions) {}

  /** Watches before it reads: a change in between is seen as an event. */
  async open(): Promise<void> {
    this.watcher = watch(this.options.directory, { persistent: false }, () => this.schedule());
    this.watcher.on('error', (error) => {
      this.keepAll(error);
      this.options.onChange?.(this.catalog);
    });
    try {
      await this.read();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  current(): MegaServiceCatalog {
    return this.catalog;
  }

  async reload(): Promise<MegaServiceCatalog> {
    this.seen = '';
    return this.follow();
  }

  private async follow(): Promise<MegaServiceCatalog> {
    const reading = this.reloading.then(() => this.refresh());
    this.reloading = reading;
    await reading;
    return this.catalog;
  }

  close(): void {
    this.stopTimer();
    this.watcher?.close();
  }

  private schedule(): void {
    this.stopTimer();
    this.stopTimer = startTimer(this.options.quietMs ?? 100, () => void this.follow());
  }

  private async refresh(): Promise<void> {
    const changed = await this.read().catch((error: unknown) => this.keepAll(error));
    if (changed) this.options.onChange?.(this.catalog);
  }

  /** True when a file was other than at the last reading. */
  private async read(): Promise<boolean> {
    const files = await readMegaServiceFiles(this.options.directory);
    const seen = JSON.stringify(files.map(({ file, text }) => [file, String(text)]));
    if (seen === this.seen) return false;
    this.seen = seen;
    this.catalog = buildCatalog(files, this.options.registry, this.catalog);
    return true;
  }

  /** The directory itself cannot be read: everything stays as it is, and says so. */
  private keepAll(thrown: unknown): true {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.seen = '';
    const errors = new Map([...this.catalog.errors, [this.options.directory, error]]);
    this.catalog = { ...this.catalog, errors };
    return true;
  }
}
