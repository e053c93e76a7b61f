import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { MegaNestError } from '#contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendError } from './http/error.filter.js';
import { isUncounted } from './http/http-call.js';

export interface DrainLimits {
  /** How long requests are still taken while `/ready` says 503, so that a load balancer notices. */
  delayMs: number;
  /** How long requests, calls and background work that have begun may then take to end. */
  graceMs: number;
}

/** Called when the process begins to stop; what it returns is waited for. `over` aborts when the time is up. */
export type DrainListener = (over: AbortSignal) => Promise<unknown> | void;

/**
 * The end of a process without the loss of a request: first `/ready` says 503, then new requests are refused, then the work
 * under way ends by itself within the grace.
 */
export class Drain {
  readonly #listeners = new Set<DrainListener>();
  readonly #requests = new Set<FastifyReply>();
  #begun = false;
  #refuses = false;

  /** From the signal to stop on. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Calls back when the process begins to stop. */
  onBegin(listener: DrainListener): void {
    this.#listeners.add(listener);
  }

  /** Counts the requests of a server and refuses new ones in time; WebSockets are their owners' own business. */
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

  /** Resolves when nothing is under way any more, or the grace is over. */
  async run({ delayMs, graceMs }: DrainLimits): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const over = new AbortController();
    const work = [...this.#listeners].map(async (listener) => listener(over.signal));
    await delay(delayMs);
    this.#refuses = true;
    const timer = setTimeout(() => over.abort(), graceMs);
    const stopped = once(over.signal, 'abort');
    await Promise.race([Promise.allSettled([...work, this.#idle()]), stopped]);
    clearTimeout(timer);
    over.abort();
  }

  async #idle(): Promise<void> {
    const open = [...this.#requests].filter(({ raw }) => !raw.closed);
    await Promise.all(open.map(({ raw }) => once(raw, 'close')));
    if (this.#requests.size > 0) await this.#idle();
  }
}

/** Why a process that is being stopped takes no more work. */
export function stoppingError(): MegaNestError {
  return new MegaNestError('service_unavailable', {
    service: 'requested',
    detail: 'this instance is being stopped',
    retryAfter: 1,
  });
}
