import { MegaNestError, type ErrorBody } from '#platform/contracts';
import { UnsupportedModelError } from '#engine/onnx-compiler';
import type { Worker } from 'node:worker_threads';
import { ModelLoadError } from '../model/model-files.js';

/** `workerData` of a worker. */
export interface WorkerInput {
  readonly settings: unknown;
  readonly pulse: Pulse;
}

/** Messages to a worker. `cancel` asks a call to end at its next step, `close` asks the thread to end. */
export type ToWorker<Payload> =
  { type: 'call'; id: number; payload: Payload } | { type: 'cancel'; id: number } | { type: 'close' };

/** Messages from a worker: `ready` once, then messages of its calls; messages of one turn are sent together. */
export type FromWorker<Ready, Event, Result> =
  | { type: 'ready'; value: Ready }
  | { type: 'unusable'; error: WorkerError }
  | { type: 'calls'; messages: CallMessage<Event, Result>[] };

/** A message of one call: any number of events, then a result or an error. */
export type CallMessage<Event, Result> =
  | { type: 'event'; id: number; value: Event }
  | { type: 'result'; id: number; value: Result }
  | { type: 'error'; id: number; error: WorkerError };

/** An error in a form that structured clone supports. */
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

/** Default of the time after which a stalled thread of a model is ended. */
export const defaultHangLimitMs = 60_000;

/** Interval of the heartbeat of a thread, and of the checks. */
const beatMs = 1_000;

/** Shared memory for the heartbeat of a thread. */
export type Pulse = Int32Array<SharedArrayBuffer>;

/** Creates the heartbeat memory for the `workerData` of a thread. */
export function createPulse(): Pulse {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Starts the heartbeat of this thread's event loop. It does not keep the thread alive. */
export function beat(pulse: Pulse): void {
  setInterval(() => Atomics.add(pulse, 0, 1), beatMs).unref();
}

/**
 * Ends a thread whose event loop stalls for `limitMs`. Only time in which the watching thread itself runs counts, so
 * that the suspension of a process has no effect. A thread inside native code cannot be terminated alone; `onStuck` is
 * called for it after `onHang`. Returns a function that ends the watch.
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
