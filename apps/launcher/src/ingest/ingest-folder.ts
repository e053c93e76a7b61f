import type { IngestProgress } from '#contracts';
import { findFiles, type FoundFile } from './find-files.js';
import type { IngestClient } from './ingest-client.js';
import type { IngestRecord } from './ingest-record.js';
import { ProgressBar, type LineTarget } from './progress-bar.js';

export interface FolderOptions {
  client: IngestClient;
  record: IngestRecord;
  output: LineTarget;
  /** Sends also what was sent before. */
  again?: boolean;
}

/** What became of a folder's files. */
export interface FolderOutcome {
  stored: number;
  /** Sent by an earlier run, and not changed since. */
  skipped: number;
  failed: number;
}

/** One request: small enough to be repeated, large enough to be quick. */
const mostFiles = 25;
const mostBytes = 32 * 1024 * 1024;

/**
 * Sends the files below a folder, batch by batch, each under its path within the folder. What an earlier run has sent, and is stored
 * still, is left out. Errors: the folder or the server cannot be reached.
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

/** Reasons by the names of the files that were not stored. */
async function sendBatch(
  batch: readonly FoundFile[],
  client: IngestClient,
  show: (progress: IngestProgress) => void,
): Promise<Map<string, string>> {
  try {
    const { failed } = await client.ingest(batch, show);
    return new Map(failed.map(({ filename, error }) => [filename, error.message]));
  } catch (error) {
    // A request whose files all failed names the first alone: each is sent by itself to learn its reason.
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
    if (batch.length === mostFiles || (batch.length > 0 && bytes + file.bytes > mostBytes)) {
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
