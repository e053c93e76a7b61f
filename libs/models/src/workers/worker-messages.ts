import { MegaNestError, type ErrorBody } from '#contracts';
import { UnsupportedModelError } from '#onnx-compiler';
import type { Worker } from 'node:worker_threads';
import { ModelLoadError } from '../model/model-files.js';

/** What a worker is started with. */
export interface WorkerInput {
  readonly settings: unknown;
  readonly pulse: Pulse;
}

/** What the owner of a worker sends. `cancel` asks the call to end at its next step, `close` the thread. */
export type ToWorker<Payload> =
  { type: 'call'; id: number; payload: Payload } | { type: 'cancel'; id: number } | { type: 'close' };

/** What a worker answers: `ready` once, then what its calls say; several at once where one turn brought several. */
export type FromWorker<Ready, Event, Result> =
  | { type: 'ready'; value: Ready }
  | { type: 'unusable'; error: WorkerError }
  | { type: 'calls'; messages: CallMessage<Event, Result>[] };

/** Of one call: any number of events, then a result or an error. */
export type CallMessage<Event, Result> =
  | { type: 'event'; id: number; value: Event }
  | { type: 'result'; id: number; value: Result }
  | { type: 'error'; id: number; error: WorkerError };

/** An error in a form that structured clone carries over. */
export type WorkerError =
  { kind: 'known'; body: ErrorBody } | { kind: 'load' | 'other'; message: string; stack?: string };

export function packError(error: unknown): WorkerError {
  if (error instanceof MegaNestError) return { kind: 'known', body: error.toBody() };
  if (!(error instanceof Error)) return { kind: 'other', message: String(error) };
  const isLoadError = error instanceof ModelLoadError || error instanceof UnsupportedModelError;
  const kind = isLoadError ? 'load' : 'other';
  return { kind, message: error.message, stack: error.stack };
}

export function unpackError(packed: WorkerError): Error {
  if (packed.kind === 'known') return MegaNestError.fromBody(packed.body);
  if (packed.kind === 'load') return new ModelLoadError(packed.message);
  return new MegaNestError('internal_error', {
    service: 'inference',
    detail: packed.message,
    cause: packed.stack,
  });
}

/** How long a thread of a model may stand still, where nothing else is set. */
export const defaultHangLimitMs = 60_000;

/** How often a thread shows that it moves, and how often that is looked at. */
const beatMs = 1_000;

/** The memory through which a thread shows that it moves. */
export type Pulse = Int32Array<SharedArrayBuffer>;

/** Made by the owner of a thread, for `workerData`. */
export function createPulse(): Pulse {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** In the thread: shows that its event loop moves. A thread that has nothing else to do may end all the same. */
export function beat(pulse: Pulse): void {
  setInterval(() => Atomics.add(pulse, 0, 1), beatMs).unref();
}

/**
 * In the owner: ends a thread whose event loop stands still for `limitMs`, whatever holds it up. The time counts only while
 * this thread moves itself, so that a process that was suspended loses nothing. A thread that is inside native code cannot be
 * ended alone; then `onStuck` is called after `onHang`. Returns the end of the watch.
 */
export function watchThread(
  worker: Worker,
  pulse: Pulse,
  { limitMs, onHang, onStuck }: { limitMs: number; onHang: () => void; onStuck: () => void },
): () => void {
  let seen = Atomics.load(pulse, 0);
  let quietMs = 0;
  let stuck: NodeJS.Timeout | undefined;
  const every = Math.min(beatMs, Math.max(limitMs / 4, 1));
  const watch = setInterval(() => {
    const now = Atomics.load(pulse, 0);
    quietMs = now === seen ? quietMs + every : 0;
    seen = now;
    if (quietMs < limitMs) return;
    clearInterval(watch);
    onHang();
    stuck = setTimeout(onStuck, Math.min(limitMs, 5_000));
    void worker.terminate();
  }, every);
  watch.unref();
  return () => {
    clearInterval(watch);
    clearTimeout(stuck);
  };
}
