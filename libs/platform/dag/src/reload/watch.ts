import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { watch, type FSWatcher } from 'node:fs';
import type { ServiceRegistry } from '../definition/types.js';
import { buildCatalog, type MegaServiceCatalog, type MegaServiceFile } from './catalog.js';
import { startTimer } from '../engine/abort-scope.js';

/**
 * Loads every *.yaml and *.yml of a directory. An invalid file becomes an entry of `errors` and does not affect the
 * others. Rejects if the directory cannot be read.
 */
export async function loadMegaServices(
  directory: string,
  registry: ServiceRegistry,
): Promise<MegaServiceCatalog> {
  return buildCatalog(await readMegaServiceFiles(directory), registry);
}

/** Files ordered by name: if two files define one name, the first file always takes precedence. */
export async function readMegaServiceFiles(directory: string): Promise<MegaServiceFile[]> {
  const names = (await readdir(directory)).filter((name) => /^[^.].*\.ya?ml$/.test(name)).sort();
  const files = await Promise.all(names.map((file) => readOne(directory, file)));
  return files.filter((file) => file !== undefined);
}

/** Undefined if the file was deleted after the listing. */
async function readOne(directory: string, file: string): Promise<MegaServiceFile | undefined> {
  try {
    return { file, text: await readFile(join(directory, file), 'utf8') };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    return { file, text: new Error(`${file}: ${String(error)}`, { cause: error }) };
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Options of {@link watchMegaServices}. */
export interface WatchOptions {
  directory: string;
  registry: ServiceRegistry;
  /** Called with the new catalog after each change of a file. Must not throw. */
  onChange?: (catalog: MegaServiceCatalog) => void;
  /**
   * Milliseconds without a change before the files are read, because editors write in several steps. Default 100.
   */
  quietMs?: number;
}

/** The mega services of a directory, kept up to date. */
export interface MegaServiceWatcher {
  /** The current catalog; a run keeps the definition that it started with. */
  current(): MegaServiceCatalog;
  /** Reads the files now: for file systems that do not report changes, and after the registry has changed. */
  reload(): Promise<MegaServiceCatalog>;
  close(): void;
}

/**
 * Loads the mega services of a directory and replaces the catalog whenever a file changes. An invalid file keeps
 * its earlier version and is listed in `errors`. Rejects if the directory cannot be read at the start.
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
  /** Reloads run one after the other, so that an older reading never replaces a newer one. */
  private reloading: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: WatchOptions) {}

  /** Watches before reading, so that a change in between is seen. */
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

  /** True if a file has changed since the last reading. */
  private async read(): Promise<boolean> {
    const files = await readMegaServiceFiles(this.options.directory);
    const seen = JSON.stringify(files.map(({ file, text }) => [file, String(text)]));
    if (seen === this.seen) return false;
    this.seen = seen;
    this.catalog = buildCatalog(files, this.options.registry, this.catalog);
    return true;
  }

  /** If the directory cannot be read, the catalog stays and the error is added. */
  private keepAll(thrown: unknown): true {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.seen = '';
    const errors = new Map([...this.catalog.errors, [this.options.directory, error]]);
    this.catalog = { ...this.catalog, errors };
    return true;
  }
}
