import { MegaNestError } from '#contracts';
import type { OnApplicationShutdown } from '@nestjs/common';
import { detectType } from '../reading/detect-type.js';
import type { ParsedDocument, SourceFile } from '../reading/parsed-document.js';
import { readDocument } from '../reading/read-document.js';
import { unsupportedFile } from '../reading/unsupported-file.js';
import { prepareDocument, type PreparedDocument } from './prepare-document.js';
import type { PreparationTask } from './reader-messages.js';
import { ReaderProcess } from './reader-process.js';
import { Semaphore } from './semaphore.js';

/** Below this size plain text and CSV take a few milliseconds; every other format has a parser that may take far more. */
const inlineBytes = 32 * 1024;
const inlineTypes: ReadonlySet<string> = new Set(['text', 'csv']);

/** Bounds of reading one document. */
export interface PreparerLimits {
  /** Time for any document, and more for each byte up to the most. */
  leastMs: number;
  msPerKilobyte: number;
  mostMs: number;
  /** Memory of a process that reads, the program itself (about 80 MB) included. */
  maxMemoryBytes: number;
  /** Documents that are read at a time. */
  maxProcesses: number;
  /** A process without work ends after this long. */
  idleMs: number;
}

export const defaultPreparerLimits: PreparerLimits = {
  leastMs: 10_000,
  msPerKilobyte: 60,
  mostMs: 120_000,
  maxMemoryBytes: 1024 * 1024 * 1024,
  maxProcesses: 4,
  idleMs: 30_000,
};

/**
 * Reads and cuts documents without holding up the event loop: small plain texts in place, all others in processes of
 * their own with limits of time and memory. A document that exceeds one fails alone.
 */
export class DocumentPreparer implements OnApplicationShutdown {
  readonly #turns: Semaphore;
  readonly #idle: { reader: ReaderProcess; timer: NodeJS.Timeout }[] = [];
  readonly #limits: PreparerLimits;

  constructor(limits: Partial<PreparerLimits> = {}) {
    this.#limits = { ...defaultPreparerLimits, ...limits };
    this.#turns = new Semaphore(this.#limits.maxProcesses);
  }

  /** Errors: unsupported_file, cancelled. */
  async prepare(task: Required<PreparationTask>, signal: AbortSignal): Promise<PreparedDocument> {
    if (signal.aborted) throw new MegaNestError('cancelled');
    if (isLight(task.file)) return prepareDocument(task.file, task.chunking);
    return (await this.#inProcess(task, signal)) as PreparedDocument;
  }

  /** Reads a document without cutting it. Errors: as with {@link prepare}. */
  async read(file: SourceFile, signal: AbortSignal): Promise<ParsedDocument> {
    if (signal.aborted) throw new MegaNestError('cancelled');
    if (isLight(file)) return readDocument(file);
    return (await this.#inProcess({ file }, signal)) as ParsedDocument;
  }

  /** Ends the processes that have no work. */
  onApplicationShutdown(): void {
    for (const { reader, timer } of this.#idle.splice(0)) {
      clearTimeout(timer);
      reader.end();
    }
  }

  async #inProcess(task: PreparationTask, signal: AbortSignal) {
    const outcome = await this.#turns.run(() => this.#run(task, signal), signal);
    if ('error' in outcome) throw MegaNestError.fromBody(outcome.error);
    return outcome.document;
  }

  async #run(task: PreparationTask, signal: AbortSignal) {
    const { leastMs, msPerKilobyte, mostMs } = this.#limits;
    const { bytes, filename } = task.file;
    const limitMs = Math.min(mostMs, leastMs + Math.ceil(bytes.length / 1024) * msPerKilobyte);
    const limit = AbortSignal.timeout(limitMs);
    const reader = this.#take();
    try {
      const outcome = await reader.run(task, AbortSignal.any([signal, limit]));
      this.#giveBack(reader);
      return outcome;
    } catch (error) {
      if (signal.aborted) throw new MegaNestError('cancelled', { cause: error });
      const reason = limit.aborted ? `it takes longer than ${limitMs / 1000} s` : (error as Error).message;
      throw unsupportedFile(filename, reason, error);
    }
  }

  #take(): ReaderProcess {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      clearTimeout(idle.timer);
      if (idle.reader.isAlive) return idle.reader;
    }
    return new ReaderProcess(this.#limits.maxMemoryBytes);
  }

  #giveBack(reader: ReaderProcess): void {
    const timer = setTimeout(() => {
      reader.end();
      this.#idle.splice(
        this.#idle.findIndex((idle) => idle.reader === reader),
        1,
      );
    }, this.#limits.idleMs).unref();
    this.#idle.push({ reader, timer });
  }
}

function isLight(file: SourceFile): boolean {
  return file.bytes.length <= inlineBytes && inlineTypes.has(detectType(file));
}
