/**
 * Program of a reader process: prepares one document at a time. It is a process and not a thread, because a hostile
 * file may make a parser crash or use memory that the limits of a thread do not count. It gets none of the service's
 * environment variables.
 */
import { Worker } from 'node:worker_threads';
import { MegaNestError } from '#platform/contracts';
import { builtFile, giveWay } from '#platform/foundation';
import { onPageProgress } from '../reading/page-progress.js';
import { onScannedPage } from '../reading/pictures/scan-reader.js';
import { readDocument } from '../reading/read-document.js';
import {
  prepareDocument,
  readerReady,
  scannedPageMs,
  type ReaderMessage,
  type PreparationOutcome,
  type PreparationTask,
} from './prepare-document.js';
import { processorTimeMs, type ReaderDeadline, type ReaderTask } from './reader/reader-limits.js';

async function run({ file, chunking }: PreparationTask): Promise<PreparationOutcome> {
  try {
    if (chunking) return { document: await prepareDocument(file, chunking) };
    const { text: _text, ...document } = await readDocument(file);
    return { document };
  } catch (error) {
    return { error: MegaNestError.from(error, 'dataprep').toBody() };
  }
}

// The service's own thread shares its group of processes with the readers: without this it waits for them.
giveWay();
const limits: unknown = JSON.parse(process.argv[2] ?? '{}');
const guard = new Worker(builtFile('reader-guard.worker'), { workerData: limits, execArgv: [] });
guard.unref();

function setDeadline(deadline: ReaderDeadline): void {
  guard.postMessage(deadline, []);
}

function send(message: ReaderMessage): void {
  process.send?.(message);
}

/** Least milliseconds between two messages about progress. */
const progressEveryMs = 250;

/** Runs a task under the limit of its processor time. */
async function runWithin({ processorMs, ...task }: ReaderTask): Promise<PreparationOutcome> {
  let deadline = processorTimeMs() + processorMs;
  setDeadline(deadline);
  onScannedPage(() => {
    deadline += scannedPageMs;
    setDeadline(deadline);
    send('scanned page');
  });
  let sentAt = 0;
  onPageProgress((progress) => {
    const now = performance.now();
    if (now - sentAt < progressEveryMs && progress.completed < progress.total) return;
    sentAt = now;
    send({ part: { unit: 'page', ...progress } });
  });
  try {
    return await run(task);
  } finally {
    setDeadline(null);
  }
}

process.on('disconnect', () => process.exit());
process.on('message', (task: ReaderTask) => void runWithin(task).then(send));
process.send?.(readerReady);
