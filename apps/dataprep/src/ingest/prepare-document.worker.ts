import { parentPort, workerData } from 'node:worker_threads';
import { MegaNestError } from '#contracts';
import { readDocument } from '../reading/read-document.js';
import { prepareDocument } from './prepare-document.js';
import type { PreparationOutcome, PreparationTask } from './preparation-messages.js';

const { file, chunking } = workerData as PreparationTask;

/** One thread prepares one document, so that ending the thread ends the work at once. */
async function run(): Promise<PreparationOutcome> {
  try {
    return { document: await (chunking ? prepareDocument(file, chunking) : readDocument(file)) };
  } catch (error) {
    return { error: MegaNestError.from(error, 'dataprep').toBody() };
  }
}

const port = parentPort;
port?.postMessage(await run());
