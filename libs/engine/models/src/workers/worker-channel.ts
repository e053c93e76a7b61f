import { Worker, type Transferable } from 'node:worker_threads';
import { MegaNestError } from '#platform/contracts';
import {
  createPulse,
  defaultHangLimitMs,
  unpackError,
  watchThread,
  type CallMessage,
  type FromWorker,
  type Pulse,
  type ToWorker,
  type WorkerInput,
} from './worker-messages.js';

export interface CallOptions<Event> {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: Event) => void;
  readonly transfer?: readonly Transferable[];
}

interface PendingCall<Event, Result> {
  readonly onEvent?: (event: Event) => void;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** Maximum number of consecutive restarts without a ready worker. */
const maxRestarts = 3;

/**
 * Calls to one worker thread, a promise for each. If the thread dies, its calls are rejected with `service_unavailable`
 * and it is restarted; new calls wait for the restart. A thread that hangs for `hangLimitMs` is ended (0: never).
 */
export class WorkerChannel<Ready, Payload, Event, Result> {
  private worker?: Worker;
  private ready?: Promise<Ready>;
  private readonly pending = new Map<number, PendingCall<Event, Result>>();
  private lastId = 0;
  private failedStarts = 0;
  private closed = false;

  constructor(
    private readonly entry: string,
    private readonly settings: unknown,
    private readonly hangLimitMs: number = defaultHangLimitMs,
  ) {}

  /** Starts the thread once. Resolves with its ready message when the model is loaded. */
  start(): Promise<Ready> {
    if (this.closed) return Promise.reject(closedError());
    this.ready ??= this.spawn();
    return this.ready;
  }

  async call(payload: Payload, options: CallOptions<Event> = {}): Promise<Result> {
    await this.start();
    const { signal, onEvent, transfer = [] } = options;
    if (signal?.aborted) throw new MegaNestError('cancelled');
    const id = ++this.lastId;
    const cancel = () => this.post({ type: 'cancel', id });
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.pending.set(id, { resolve, reject, onEvent });
        this.post({ type: 'call', id, payload }, transfer);
      });
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.pending.delete(id);
    }
  }

  /**
   * Ends the thread and rejects its running calls. The thread ends by itself after its current pass, because
   * terminating it inside onnxruntime would abort the whole process.
   */
  async close(): Promise<void> {
    this.closed = true;
    this.rejectPending(closedError());
    const { worker } = this;
    if (!worker) return;
    // A thread that is still loading reads the message when it is done.
    this.post({ type: 'close' });
    await new Promise<void>((resolve) => {
      worker.once('exit', () => resolve());
    });
  }

  /**
   * Terminates a thread that does not end by itself, and starts a new one. Resolves when the new thread takes calls.
   * Not for a thread inside onnxruntime.
   */
  async end(): Promise<void> {
    await this.worker?.terminate();
  }

  private post(message: ToWorker<Payload>, transfer: readonly Transferable[] = []): void {
    this.worker?.postMessage(message, transfer);
  }

  private spawn(): Promise<Ready> {
    return new Promise<Ready>((resolve, reject) => {
      const pulse = createPulse();
      let hang: Error | undefined;
      // The thread inherits no flags, so that a compiled worker does not resolve its imports to sources.
      const worker = new Worker(this.entry, {
        workerData: { settings: this.settings, pulse } satisfies WorkerInput,
        execArgv: ['--enable-source-maps'],
      });
      this.worker = worker;
      worker.on('message', (message: FromWorker<Ready, Event, Result>) => {
        if (message.type === 'ready') {
          this.failedStarts = 0;
          this.watch(worker, pulse, (reason) => (hang = new Error(reason)));
          resolve(message.value);
        } else if (message.type === 'unusable') {
          reject(unpackError(message.error));
        } else {
          for (const said of message.messages) this.deliver(said);
        }
      });
      worker.once('error', (error) => this.recover(worker, error, reject));
      worker.once('exit', (code) =>
        this.recover(worker, hang ?? new Error(`exit code ${code}`), reject, hang !== undefined),
      );
    });
  }

  /** Watches for hangs from the moment the model is loaded, because loading has no time limit. */
  private watch(worker: Worker, pulse: Pulse, onHang: (reason: string) => void): void {
    if (this.hangLimitMs === 0) return;
    const reason = `it stood still for ${this.hangLimitMs / 1000} s`;
    const onStuck = () => {
      process.stderr.write(`A thread of a model cannot be ended: ${reason}.\n`);
      process.kill(process.pid, 'SIGKILL');
    };
    const limits = { limitMs: this.hangLimitMs, onHang: () => onHang(reason), onStuck };
    worker.once('exit', watchThread(worker, pulse, limits));
  }

  private deliver(message: CallMessage<Event, Result>): void {
    const call = this.pending.get(message.id);
    if (message.type === 'event') call?.onEvent?.(message.value);
    else if (message.type === 'result') call?.resolve(message.value);
    else call?.reject(unpackError(message.error));
  }

  /** `hung`: another thread, or another instance, would hang with the same calls. */
  private recover(dead: Worker, cause: Error, reject: (error: Error) => void, hung = false): void {
    if (this.worker !== dead) return;
    if (this.closed) {
      reject(closedError());
      return;
    }
    this.worker = undefined;
    const detail = `a model worker died: ${cause.message}`;
    const error = new MegaNestError('service_unavailable', {
      service: 'inference',
      detail,
      retryAfter: 1,
      ...(hung && { final: true }),
      cause,
    });
    reject(error);
    this.rejectPending(error);
    this.ready = undefined;
    if (++this.failedStarts <= maxRestarts) {
      // The next call gets the error of a failed restart.
      this.start().catch(() => undefined);
    }
  }

  private rejectPending(error: Error): void {
    for (const call of this.pending.values()) call.reject(error);
    this.pending.clear();
  }
}

function closedError(): MegaNestError {
  return new MegaNestError('service_unavailable', { service: 'inference', detail: 'the model is closed' });
}
