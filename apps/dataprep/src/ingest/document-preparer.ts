import { FairTurns } from '#platform/foundation';
import { MegaNestError } from '#platform/contracts';
import type { OnApplicationShutdown } from '@nestjs/common';
import { detectType } from '../reading/detect-type.js';
import { unsupportedFile, type ParsedDocument, type SourceFile } from '../reading/parsed-document.js';
import { readDocument } from '../reading/read-document.js';
import {
  prepareDocument,
  type OnPart,
  type PreparedDocument,
  type PreparationTask,
  type PreparationOutcome,
} from './prepare-document.js';
import { ReaderFailure, ReaderProcess } from './reader/reader-process.js';

/** Plain text and CSV up to this size take a few milliseconds. The parsers of other formats may take much longer. */
const inlineBytes = 32 * 1024;
const inlineTypes: ReadonlySet<string> = new Set(['text', 'csv']);

/** Limits for reading documents. */
export interface PreparerLimits {
  /** Processor time: `leastMs` for each document, plus `msPerKilobyte`, up to `mostMs`. */
  leastMs: number;
  msPerKilobyte: number;
  mostMs: number;
  /** Timeout by the clock, as a multiple of the processor time: many other processes may be running. */
  clockFactor: number;
  /** Memory of a reader process, including the program itself (about 80 MB). */
  maxMemoryBytes: number;
  /** Documents of one client that are read at the same time; another client has one process in addition. */
  maxProcesses: number;
  /** A process without work ends after this long. */
  idleMs: number;
}

const defaultPreparerLimits: PreparerLimits = {
  leastMs: 10_000,
  msPerKilobyte: 60,
  mostMs: 120_000,
  clockFactor: 30,
  maxMemoryBytes: 1024 * 1024 * 1024,
  maxProcesses: 4,
  idleMs: 30_000,
};

/** Documents that are read at the same time from which on a spare process is started. */
const busyForSpare = 2;

/** A client may have as many documents as a request has files. */
const waiting = { service: 'dataprep', what: 'documents', waitingOfOne: 1_000 };

/**
 * Reads and splits documents without blocking the event loop: small plain texts in this process, all other documents in
 * reader processes with limits on time and memory. A document over a limit does not affect other documents.
 */
export class DocumentPreparer implements OnApplicationShutdown {
  readonly #turns: FairTurns;
  readonly #idle: { reader: ReaderProcess; timer: NodeJS.Timeout }[] = [];
  #busy = 0;
  readonly #limits: PreparerLimits;

  constructor(limits: Partial<PreparerLimits> = {}) {
    this.#limits = { ...defaultPreparerLimits, ...limits };
    const { maxProcesses } = this.#limits;
    this.#turns = new FairTurns({ ...waiting, slots: maxProcesses + 1, slotsOfOne: maxProcesses });
  }

  /** Errors: unsupported_file, cancelled, deadline_exceeded (the machine is too busy). */
  async prepare(
    task: Required<PreparationTask>,
    signal: AbortSignal,
    onPart?: OnPart,
  ): Promise<PreparedDocument> {
    if (signal.aborted) throw new MegaNestError('cancelled');
    if (isLight(task.file)) return prepareDocument(task.file, task.chunking);
    return (await this.#inProcess(task, signal, onPart)) as PreparedDocument;
  }

  /** Reads a document without splitting it. Errors: the errors of {@link prepare}. */
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

  async #inProcess(task: PreparationTask, signal: AbortSignal, onPart: OnPart = () => undefined) {
    const outcome = await this.#turns.run(() => this.#run(task, signal, onPart), { signal });
    if ('error' in outcome) throw MegaNestError.fromBody(outcome.error);
    return outcome.document;
  }

  /** Reads a document. If the reason of a failure may be the machine, a second process tries again. */
  async #run(task: PreparationTask, signal: AbortSignal, onPart: OnPart): Promise<PreparationOutcome> {
    try {
      return await this.#attempt(task, signal, onPart);
    } catch (error) {
      if (!(error instanceof ReaderFailure) || !error.mayPass) throw failureOf(error, task.file);
    }
    return this.#attempt(task, signal, onPart).catch((error: unknown) => {
      throw failureOf(error, task.file);
    });
  }

  async #attempt(task: PreparationTask, signal: AbortSignal, onPart: OnPart): Promise<PreparationOutcome> {
    const { leastMs, msPerKilobyte, mostMs, clockFactor } = this.#limits;
    const kilobytes = Math.ceil(task.file.bytes.length / 1024);
    const processorMs = Math.min(mostMs, leastMs + kilobytes * msPerKilobyte);
    const clock = new AbortController();
    const timer = setTimeout(() => clock.abort(), processorMs * clockFactor).unref();
    const reader = this.#take();
    this.#busy += 1;
    this.#startSpare();
    try {
      const limited = { ...task, processorMs };
      const onScan = () => timer.refresh();
      const outcome = await reader.run(limited, AbortSignal.any([signal, clock.signal]), { onScan, onPart });
      this.#giveBack(reader);
      return outcome;
    } catch (error) {
      if (signal.aborted) throw new MegaNestError('cancelled', { cause: error });
      if (!clock.signal.aborted) throw error;
      throw new ReaderFailure(`it took longer than ${(processorMs * clockFactor) / 1000} s`, 'clock', error);
    } finally {
      this.#busy -= 1;
      clearTimeout(timer);
    }
  }

  #take(): ReaderProcess {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      clearTimeout(idle.timer);
      if (idle.reader.isAlive) return idle.reader;
    }
    return new ReaderProcess(this.#limits.maxMemoryBytes);
  }

  /**
   * While several documents are read, a process more is ready for the next client: starting one takes a second on a busy
   * machine.
   */
  #startSpare(): void {
    if (this.#busy < busyForSpare || this.#busy > this.#limits.maxProcesses || this.#idle.length > 0) return;
    this.#giveBack(new ReaderProcess(this.#limits.maxMemoryBytes));
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

/** The error for the caller. Only a document that was too slow on a busy machine may be sent again unchanged. */
function failureOf(error: unknown, { filename }: SourceFile): MegaNestError {
  if (error instanceof MegaNestError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ReaderFailure) || error.kind !== 'clock')
    return unsupportedFile(filename, reason, error);
  const detail = `: reading ${filename} failed, because ${reason}. The machine is busy; try again`;
  return new MegaNestError('deadline_exceeded', { detail, cause: error });
}

function isLight(file: SourceFile): boolean {
  return file.bytes.length <= inlineBytes && inlineTypes.has(detectType(file));
}
