import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { MegaNestError } from '#platform/contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendError } from './http/error.filter.js';
import { isUncounted } from './http/http-call.js';

export interface DrainLimits {
  /** Time for which requests are still taken while `/ready` answers 503, so that a load balancer notices. */
  delayMs: number;
  /** After that, the time for running requests, calls and background work to end. */
  graceMs: number;
}

/** Called when the process begins to stop; the drain awaits its promise. `over` aborts when the time is up. */
export type DrainListener = (over: AbortSignal) => Promise<unknown> | void;

/**
 * Stops a process without the loss of a request: first `/ready` answers 503, then new requests are refused, then the
 * running work ends by itself within the grace period.
 */
export class Drain {
  readonly #listeners = new Set<DrainListener>();
  readonly #idleListeners = new Set<DrainListener>();
  readonly #requests = new Set<FastifyReply>();
  #begun = false;
  #refuses = false;

  /** True after the signal to stop. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Calls back when the process begins to stop. */
  onBegin(listener: DrainListener): void {
    this.#listeners.add(listener);
  }

  /** Calls back once requests and the first listeners have ended, for background work that they began meanwhile. */
  onIdle(listener: DrainListener): void {
    this.#idleListeners.add(listener);
  }

  /** Counts the requests of a server, and refuses new ones after the delay; owners of WebSockets close them. */
  guard(server: FastifyInstance): void {
    server.addHook('onRequest', (request, reply, done) => {
      if (this.#begun) void reply.header('connection', 'close');
      if (isUncounted(request)) return done();
      if (this.#refuses) return sendError(reply, stoppingError());
      this.#requests.add(reply);
      reply.raw.once('close', () => this.#requests.delete(reply));
      done();
    });
  }

  /** Resolves when all work has ended, or the grace period is over. */
  async run({ delayMs, graceMs }: DrainLimits): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const over = new AbortController();
    const call = (listeners: Iterable<DrainListener>) =>
      Promise.allSettled([...listeners].map(async (listener) => listener(over.signal)));
    const work = call(this.#listeners);
    await delay(delayMs);
    this.#refuses = true;
    const timer = setTimeout(() => over.abort(), graceMs);
    const stopped = once(over.signal, 'abort');
    const ended = Promise.all([work, this.#idle()]).then(() => call(this.#idleListeners));
    await Promise.race([ended, stopped]);
    clearTimeout(timer);
    over.abort();
  }

  async #idle(): Promise<void> {
    const open = [...this.#requests].filter(({ raw }) => !raw.closed);
    await Promise.all(open.map(({ raw }) => once(raw, 'close')));
    if (this.#requests.size > 0) await this.#idle();
  }
}

/** The error of a stopping process for new work. */
export function stoppingError(): MegaNestError {
  return new MegaNestError('service_unavailable', {
    service: 'requested',
    detail: 'this instance is being stopped',
    retryAfter: 1,
  });
}
