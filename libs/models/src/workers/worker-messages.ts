import { MegaNestError, type ErrorBody } from '#contracts';
import { UnsupportedModelError } from '#onnx-compiler';
import { ModelLoadError } from '../model-load-error.js';
import type { Pulse } from './thread-watch.js';

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
