import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { MegaNestError } from '#contracts';
import type { ParsedDocument, SourceFile } from '../reading/parsed-document.js';
import { readDocument } from '../reading/read-document.js';
import { unsupportedFile } from '../reading/unsupported-file.js';
import { prepareDocument, type PreparedDocument } from './prepare-document.js';
import type { PreparationOutcome, PreparationTask } from './preparation-messages.js';

/** Below this size reading plain formats takes a few milliseconds, less than a thread takes to start. */
const inlineBytes = 32 * 1024;
const defaultTimeoutMs = 120_000;
const heapLimitMb = 1_024;

/**
 * Reads and cuts documents without holding up the event loop: small plain ones in place, others in a thread of their
 * own with a limit of time and memory.
 */
export class DocumentPreparer {
  constructor(private readonly timeoutMs = defaultTimeoutMs) {}

  /** Errors: unsupported_file, cancelled. The file's bytes may be gone afterwards: a thread takes them over. */
  async prepare(task: Required<PreparationTask>, signal: AbortSignal): Promise<PreparedDocument> {
    if (signal.aborted) throw new MegaNestError('cancelled');
    if (isLight(task.file)) return prepareDocument(task.file, task.chunking);
    return (await this.#inThread(task, signal)) as PreparedDocument;
  }

  /** Reads a document without cutting it. Errors and the file's bytes: as with {@link prepare}. */
  async read(file: SourceFile, signal: AbortSignal): Promise<ParsedDocument> {
    if (signal.aborted) throw new MegaNestError('cancelled');
    if (isLight(file)) return readDocument(file);
    return (await this.#inThread({ file }, signal)) as ParsedDocument;
  }

  async #inThread(task: PreparationTask, signal: AbortSignal) {
    const outcome = await this.#runThread(task, signal);
    if ('error' in outcome) throw MegaNestError.fromBody(outcome.error);
    return outcome.document;
  }

  async #runThread(task: PreparationTask, signal: AbortSignal): Promise<PreparationOutcome> {
    const { bytes, filename } = task.file;
    const owned = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    const worker = new Worker(workerEntry(), {
      workerData: { ...task, file: { ...task.file, bytes: owned } },
      transferList: [owned.buffer as ArrayBuffer],
      resourceLimits: { maxOldGenerationSizeMb: heapLimitMb },
      // No inherited flags: the worker must not resolve its imports to sources.
      execArgv: ['--enable-source-maps'],
    });
    const limit = AbortSignal.timeout(this.timeoutMs);
    try {
      return await outcomeOf(worker, AbortSignal.any([signal, limit]));
    } catch (error) {
      if (signal.aborted) throw new MegaNestError('cancelled', { cause: error });
      const reason = limit.aborted
        ? `it takes longer than ${this.timeoutMs / 1000} s`
        : (error as Error).message;
      throw unsupportedFile(filename, reason, error);
    } finally {
      await worker.terminate();
    }
  }
}

function outcomeOf(worker: Worker, signal: AbortSignal): Promise<PreparationOutcome> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('its reader ended early')));
    signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
  });
}

/** PDFs and zips (docx) are worth a thread at any size. */
function isLight({ bytes }: SourceFile): boolean {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return bytes.length <= inlineBytes && !head.includes('%PDF-') && !head.startsWith('PK');
}

/** The bundled thread, also when sources are tested directly. */
function workerEntry(): string {
  return createRequire(import.meta.url).resolve('#dist/bundle/prepare-document.worker.js');
}
