import { firstHeartbeatMs } from './wire.js';
import { RpcContext, type RpcContextFields } from './rpc-handler.js';

interface RunningCall {
  context: RpcContext;
  abort: AbortController;
  /** Subject that the caller listens on. */
  reply: string;
  timer: NodeJS.Timeout;
  idleMs: number | undefined;
  /** Time of its next heartbeat, on the clock of `performance`. */
  nextBeatAt: number;
  /** Time since which its heartbeats lack a listener, and whether the latest heartbeat lacked one. */
  unheardSince: number | undefined;
  isUnheard: boolean;
}

/** A caller that loses its server reconnects to another one within this time; otherwise it is gone. */
export const goneAfterMs = 3_000;

/** The running calls of a service, each with its deadline and its abort controller. */
export class RunningCalls {
  readonly #calls = new Map<string, RunningCall>();
  #onIdle: (() => void) | undefined;

  get size(): number {
    return this.#calls.size;
  }

  /** Number of running calls that are bulk work. */
  get bulk(): number {
    return [...this.#calls.values()].filter(({ context }) => context.priority === 'bulk').length;
  }

  /** `idleMs`: each reply extends the call by this time; without it `timeoutMs` is for the whole call. */
  start(
    fields: Omit<RpcContextFields, 'abort' | 'deadline'>,
    reply: string,
    { timeoutMs, idleMs }: { timeoutMs: number; idleMs?: number },
  ): RpcContext {
    const abort = new AbortController();
    const context = new RpcContext({ ...fields, deadline: Date.now() + timeoutMs, abort });
    const timer = setTimeout(() => this.#look(fields.callId), timeoutMs);
    this.#calls.set(fields.callId, {
      context,
      abort,
      reply,
      timer,
      idleMs,
      nextBeatAt: performance.now() + firstHeartbeatMs,
      unheardSince: undefined,
      isUnheard: false,
    });
    return context;
  }

  finish(callId: string): void {
    clearTimeout(this.#calls.get(callId)?.timer);
    this.#calls.delete(callId);
    if (this.#calls.size === 0) this.#onIdle?.();
  }

  /** A reply was sent. */
  renew(callId: string): void {
    const call = this.#calls.get(callId);
    if (call?.idleMs !== undefined) call.context.putOff(Date.now() + call.idleMs);
  }

  /** Ends the call if its time is up; it may have been extended. */
  #look(callId: string): void {
    const call = this.#calls.get(callId);
    if (!call) return;
    const leftMs = call.context.deadline - Date.now();
    if (leftMs <= 0) call.abort.abort();
    else call.timer = setTimeout(() => this.#look(callId), leftMs);
  }

  cancel(callId: string): void {
    this.#calls.get(callId)?.abort.abort();
  }

  /** A heartbeat did not have a listener: the call stops if that continues for {@link goneAfterMs}. */
  missBeat(callId: string): void {
    const call = this.#calls.get(callId);
    if (!call) return;
    call.isUnheard = true;
    call.unheardSince ??= performance.now();
    if (performance.now() - call.unheardSince >= goneAfterMs) call.abort.abort();
  }

  cancelAll(): void {
    for (const call of this.#calls.values()) call.abort.abort();
  }

  /** Resolves when no call is running, at the latest when `over` aborts. */
  async idle(over: AbortSignal): Promise<void> {
    if (this.size === 0 || over.aborted) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      over.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /**
   * Calls whose heartbeat is due, each once in `intervalMs`; a call without a reply subject has no
   * listener.
   */
  *due(intervalMs: number): Iterable<[callId: string, reply: string]> {
    const now = performance.now();
    for (const [callId, call] of this.#calls) {
      if (now < call.nextBeatAt || call.reply === '') continue;
      call.nextBeatAt = now + intervalMs;
      if (!call.isUnheard) call.unheardSince = undefined;
      call.isUnheard = false;
      yield [callId, call.reply];
    }
  }
}
