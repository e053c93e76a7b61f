import type { IngestProgress } from '#platform/contracts';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findFiles, type FoundFile, type IngestClient } from './ingest-client.js';

export interface FolderOptions {
  client: IngestClient;
  record: IngestRecord;
  output: LineTarget;
  /** Whether to send files again that an earlier run has sent. */
  again?: boolean;
}

/** Numbers of the files of a folder, by outcome. */
export interface FolderOutcome {
  stored: number;
  /** Files that an earlier run has sent and that have not changed since. */
  skipped: number;
  failed: number;
}

/** Limits of one request: small enough for a retry, large enough for a good throughput. */
const maxFiles = 25;
const maxBytes = 32 * 1024 * 1024;

/**
 * Sends the files below a folder in batches, each under its path within the folder. Skips a file that an earlier run
 * has sent and that is still stored. Errors: the folder cannot be read, or the server does not answer.
 */
export async function ingestFolder(folder: string, options: FolderOptions): Promise<FolderOutcome> {
  const { client, record, output } = options;
  const files = await findFiles(folder);
  const stored = options.again ? new Set<string>() : await client.names();
  const left = files.filter(({ name, version }) => !stored.has(name) || !record.has(name, version));
  const outcome = { stored: 0, skipped: files.length - left.length, failed: 0 };
  const bar = new ProgressBar(output, left.length);
  for (const batch of batchesOf(left)) {
    const done = outcome.stored + outcome.failed;
    const show = (progress: IngestProgress) =>
      bar.draw(done + indexOf(batch, progress), shareOf(progress), progress.filename);
    const failures = await sendBatch(batch, client, show);
    for (const [name, reason] of failures) bar.say(`failed     ${name}: ${reason}`);
    await record.add(batch.filter(({ name }) => !failures.has(name)));
    outcome.failed += failures.size;
    outcome.stored += batch.length - failures.size;
  }
  bar.end();
  return outcome;
}

/** Sends a batch. Returns the reasons of the files that were not stored, by name. */
async function sendBatch(
  batch: readonly FoundFile[],
  client: IngestClient,
  show: (progress: IngestProgress) => void,
): Promise<Map<string, string>> {
  try {
    const { failed } = await client.ingest(batch, show);
    return new Map(failed.map(({ filename, error }) => [filename, error.message]));
  } catch (error) {
    // If all files of a request fail, the error names the first file only. Each file is sent again to get its reason.
    if (batch.length === 1) return new Map([[batch[0]!.name, (error as Error).message]]);
    await client.names();
    const single = batch.map((file) => sendBatch([file], client, show));
    return new Map((await Promise.all(single)).flatMap((failures) => [...failures]));
  }
}

function* batchesOf(files: readonly FoundFile[]): Generator<FoundFile[]> {
  let batch: FoundFile[] = [];
  let bytes = 0;
  for (const file of files) {
    if (batch.length === maxFiles || (batch.length > 0 && bytes + file.bytes > maxBytes)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(file);
    bytes += file.bytes;
  }
  if (batch.length > 0) yield batch;
}

function indexOf(batch: readonly FoundFile[], { filename }: IngestProgress): number {
  return Math.max(
    0,
    batch.findIndex(({ name }) => name === filename),
  );
}

function shareOf({ stage, completed, total }: IngestProgress): number {
  if (stage === 'storing') return 1;
  return stage === 'embedding' && total > 0 ? completed / total : 0;
}

/** Record of the sent files of a folder, by name and version, so that a second run sends only the other files. */
export class IngestRecord {
  private constructor(
    private readonly path: string,
    private readonly versions: Record<string, string>,
  ) {}

  /** Opens the record for a folder, a server and a collection. It is a file in the data directory. */
  static async open(dataDirectory: string, ...what: readonly string[]): Promise<IngestRecord> {
    const name = createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
    const path = join(dataDirectory, 'ingests', `${name}.json`);
    const versions = existsSync(path)
      ? (JSON.parse(await readFile(path, 'utf8')) as Record<string, string>)
      : {};
    return new IngestRecord(path, versions);
  }

  has(name: string, version: string): boolean {
    return this.versions[name] === version;
  }

  /** Adds files and writes the record at once, so that the next run can continue after an interruption. */
  async add(files: readonly { name: string; version: string }[]): Promise<void> {
    for (const { name, version } of files) this.versions[name] = version;
    await mkdir(dirname(this.path), { recursive: true });
    const draft = `${this.path}.${process.pid}`;
    await writeFile(draft, JSON.stringify(this.versions));
    await rename(draft, this.path);
  }
}

/** A stream for lines, such as standard output. */
interface LineTarget {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

const width = 24;

/** A progress bar. A terminal shows it in place; other outputs get a line for each tenth. */
export class ProgressBar {
  #shown = -1;
  #part = 0;

  constructor(
    private readonly target: LineTarget,
    private readonly total: number,
  ) {}

  /** Draws the bar. `share`: progress of the current file, from 0 to 1. */
  draw(done: number, share: number, label: string): void {
    // The files of a failed batch are sent again one by one. The bar does not go back then.
    this.#part = Math.max(this.#part, this.total === 0 ? 1 : Math.min(1, (done + share) / this.total));
    const part = this.#part;
    if (this.target.isTTY) return this.#draw(part, done, label);
    const tenth = Math.floor(part * 10);
    if (tenth === this.#shown) return;
    this.#shown = tenth;
    this.target.write(`${tenth * 10} % (${done} of ${this.total})\n`);
  }

  /** Writes a line above the bar. */
  say(line: string): void {
    this.target.write(this.target.isTTY ? `\r\u001B[K${line}\n` : `${line}\n`);
  }

  end(): void {
    if (this.target.isTTY) this.target.write('\r\u001B[K');
  }

  #draw(part: number, done: number, label: string): void {
    const bar = '#'.repeat(Math.floor(part * width)).padEnd(width, '.');
    const line = `[${bar}] ${done} of ${this.total}  ${label}`;
    this.target.write(`\r\u001B[K${line.slice(0, (this.target.columns ?? 80) - 1)}`);
  }
}
