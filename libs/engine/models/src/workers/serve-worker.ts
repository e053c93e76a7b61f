import { parentPort, workerData, type MessagePort, type Transferable } from 'node:worker_threads';
import { giveWay } from '#platform/foundation';
import {
  beat,
  packError,
  type CallMessage,
  type FromWorker,
  type ToWorker,
  type WorkerInput,
} from './worker-messages.js';

export interface CallContext<Event> {
  readonly signal: AbortSignal;
  emit(event: Event): void;
}

export interface CallOutcome<Result> {
  readonly value: Result;
  /** Buffers to transfer instead of copying. */
  readonly transfer?: readonly Transferable[];
}

/** The operations of a worker whose model is loaded. */
export interface WorkerService<Ready, Payload, Event, Result> {
  readonly ready: Ready;
  handle(payload: Payload, context: CallContext<Event>): Promise<CallOutcome<Result>>;
  /** Frees the model. Called when no call is running. */
  dispose(): Promise<void>;
}

/**
 * The worker's side of {@link WorkerChannel}: loads the model, reports that it is ready, and answers calls, also
 * concurrently. On `close` it cancels the calls, waits for them, and lets the thread end by itself.
 */
export async function serveWorker<Ready, Payload, Event, Result>(
  load: (settings: unknown) => Promise<WorkerService<Ready, Payload, Event, Result>>,
): Promise<void> {
  if (!parentPort) throw new Error('This file is the entry of a worker thread.');
  const port = parentPort;
  giveWay();
  try {
    const { settings, pulse } = workerData as WorkerInput;
    const service = await load(settings);
    beat(pulse);
    const server = new WorkerServer(port, service);
    port.on('message', (message: ToWorker<Payload>) => server.receive(message));
    port.postMessage({ type: 'ready', value: service.ready });
  } catch (error) {
    port.postMessage({ type: 'unusable', error: packError(error) });
  }
}

interface RunningCall {
  readonly controller: AbortController;
  readonly settled: Promise<void>;
}

interface WaitingMessage<Event, Result> {
  readonly message: CallMessage<Event, Result>;
  readonly transfer: readonly Transferable[];
}

class WorkerServer<Ready, Payload, Event, Result> {
  private readonly running = new Map<number, RunningCall>();
  /**
   * Messages of one pass, which are posted together: each post wakes the other thread, and costs more than the content
   * of a message.
   */
  private waiting: WaitingMessage<Event, Result>[] = [];

  constructor(
    private readonly port: MessagePort,
    private readonly service: WorkerService<Ready, Payload, Event, Result>,
  ) {}

  receive(message: ToWorker<Payload>): void {
    if (message.type === 'close') void this.close();
    else if (message.type === 'cancel') this.running.get(message.id)?.controller.abort();
    else this.start(message.id, message.payload);
  }

  private start(id: number, payload: Payload): void {
    const controller = new AbortController();
    const settled = this.answer(id, payload, controller.signal).finally(() => this.running.delete(id));
    this.running.set(id, { controller, settled });
  }

  private async answer(id: number, payload: Payload, signal: AbortSignal): Promise<void> {
    try {
      const emit = (value: Event) => this.send({ type: 'event', id, value });
      const { value, transfer } = await this.service.handle(payload, { signal, emit });
      this.send({ type: 'result', id, value }, transfer);
    } catch (error) {
      this.send({ type: 'error', id, error: packError(error) });
    }
  }

  private send(message: CallMessage<Event, Result>, transfer: readonly Transferable[] = []): void {
    // The tick runs after all pending promise callbacks, and before the next pass, which needs another event loop turn.
    if (this.waiting.push({ message, transfer }) === 1) process.nextTick(() => this.flush());
  }

  private flush(): void {
    const waiting = this.waiting;
    this.waiting = [];
    if (waiting.length > 0) this.post(waiting);
  }

  /** Posts the messages. A message that cannot be cloned fails only its own call. */
  private post(waiting: readonly WaitingMessage<Event, Result>[]): void {
    const messages = waiting.map(({ message }) => message);
    const calls: FromWorker<Ready, Event, Result> = { type: 'calls', messages };
    try {
      this.port.postMessage(
        calls,
        waiting.flatMap(({ transfer }) => transfer),
      );
    } catch (error) {
      const [first] = messages;
      if (waiting.length > 1) for (const one of waiting) this.post([one]);
      else this.post([{ message: { type: 'error', id: first!.id, error: packError(error) }, transfer: [] }]);
    }
  }

  private async close(): Promise<void> {
    const calls = [...this.running.values()];
    for (const { controller } of calls) controller.abort();
    await Promise.all(calls.map(({ settled }) => settled));
    await this.service.dispose();
    this.flush();
    this.port.close();
  }
}
