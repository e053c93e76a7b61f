import { parentPort, workerData, type Transferable } from 'node:worker_threads';
import { packError, type FromWorker, type ToWorker } from './worker-messages.js';

export interface CallContext<Event> {
  readonly signal: AbortSignal;
  emit(event: Event): void;
}

export interface CallOutcome<Result> {
  readonly value: Result;
  /** Buffers handed over instead of copied. */
  readonly transfer?: readonly Transferable[];
}

/** What a worker does once its model is loaded. */
export interface WorkerService<Ready, Payload, Event, Result> {
  readonly ready: Ready;
  handle(payload: Payload, context: CallContext<Event>): Promise<CallOutcome<Result>>;
}

/** The worker's side of {@link WorkerChannel}: loads, reports ready, answers calls; calls may overlap. */
export async function serveWorker<Ready, Payload, Event, Result>(
  load: (settings: unknown) => Promise<WorkerService<Ready, Payload, Event, Result>>,
): Promise<void> {
  if (!parentPort) throw new Error('This file is the entry of a worker thread.');
  const port = parentPort;
  const send = (message: FromWorker<Ready, Event, Result>, transfer: readonly Transferable[] = []) =>
    port.postMessage(message, transfer);
  const running = new Map<number, AbortController>();
  try {
    const service = await load(workerData);
    port.on('message', (message: ToWorker<Payload>) => {
      if (message.type === 'cancel') running.get(message.id)?.abort();
      else void answer(service, message.id, message.payload);
    });
    send({ type: 'ready', value: service.ready });
  } catch (error) {
    send({ type: 'unusable', error: packError(error) });
  }

  async function answer(
    service: WorkerService<Ready, Payload, Event, Result>,
    id: number,
    payload: Payload,
  ): Promise<void> {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const emit = (value: Event) => send({ type: 'event', id, value });
      const { value, transfer } = await service.handle(payload, { signal: controller.signal, emit });
      send({ type: 'result', id, value }, transfer);
    } catch (error) {
      send({ type: 'error', id, error: packError(error) });
    } finally {
      running.delete(id);
    }
  }
}
