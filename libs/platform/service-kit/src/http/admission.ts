import { asClient, showWork } from '#platform/foundation';
import { MegaNestError } from '#platform/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendError } from './error.filter.js';
import { isUncounted } from './http-call.js';

/** Limits of a process's concurrent work. */
export interface AdmissionLimits {
  service: string;
  /** Maximum concurrent requests; 0: unlimited. */
  maxRequests: number;
  /** Maximum bytes of their bodies, and of the messages of WebSockets. */
  maxBytes: number;
  /** Maximum size of a JSON body; a body without a length counts with this size. */
  bodyLimit: number;
}

/** Maximum share of each limit for one client, so that it does not exclude other clients. */
const shareOfOne = 0.5;
/** Bytes of an upload in memory: files are passed on in pieces. */
const formBytes = 1024 * 1024;
/** Paths whose forms are in memory as a whole. */
const heldForms = /\/(audio|asr)\b/;
/** At a limit, bodies that have been arriving for this time are cut off. */
const slowAfterMs = 10_000;

interface Usage {
  requests: number;
  bytes: number;
}

interface Arriving {
  request: FastifyRequest;
  since: number;
}

/**
 * Limits the concurrent requests of a process, and the bytes of their bodies. A request beyond the limits is refused
 * before its body is read.
 */
export class Admission {
  #limits: AdmissionLimits = { service: 'requested', maxRequests: 0, maxBytes: 0, bodyLimit: 0 };
  readonly #all: Usage = { requests: 0, bytes: 0 };
  readonly #clients = new Map<string, Usage>();
  readonly #arriving = new Set<Arriving>();

  /** The current usage. */
  get usage(): Readonly<Usage> {
    return this.#all;
  }

  /** Counts the requests of a server; probes are always answered, and WebSockets count by their messages. */
  guard(server: FastifyInstance, limits: AdmissionLimits): void {
    this.#limits = limits;
    server.addHook('onRequest', (request, reply, done) => {
      if (reply.sent) return;
      if (isUncounted(request)) return done();
      try {
        const release = this.#admit(request);
        reply.raw.once('close', release);
        reply.raw.once(
          'close',
          showWork(`${request.method} ${request.routeOptions.url ?? 'unknown'} ${request.id}`),
        );
        done();
      } catch (error) {
        sendError(reply, MegaNestError.from(error, 'http'));
      }
    });
    // After the body, which arrives in the context of the connection.
    server.addHook('preHandler', (request, _reply, done) => asClient(clientOf(request), done));
  }

  /** Reserves bytes for a client until the returned function is called. Errors: overloaded. */
  hold(client: string, bytes: number): () => void {
    return this.#take(client, { requests: 0, bytes });
  }

  #admit(request: FastifyRequest): () => void {
    const bytes = this.#bytesOf(request);
    const release = this.#take(clientOf(request), { requests: 1, bytes });
    if (bytes === 0) return release;
    const arriving = { request, since: Date.now() };
    this.#arriving.add(arriving);
    return () => {
      this.#arriving.delete(arriving);
      release();
    };
  }

  #take(client: string, more: Usage): () => void {
    const own = this.#clients.get(client) ?? { requests: 0, bytes: 0 };
    const refusal = this.#refusal(own, more);
    if (refusal !== undefined) {
      this.#cutSlow();
      const { service } = this.#limits;
      throw new MegaNestError('overloaded', { service, detail: refusal, retryAfter: 1 });
    }
    this.#clients.set(client, own);
    add(this.#all, more, 1);
    add(own, more, 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      add(this.#all, more, -1);
      add(own, more, -1);
      if (own.requests === 0 && own.bytes === 0) this.#clients.delete(client);
    };
  }

  #refusal(own: Usage, more: Usage): string | undefined {
    const { maxRequests, maxBytes } = this.#limits;
    const isOver = (used: Usage, share: number) => ({
      requests: maxRequests > 0 && used.requests + more.requests > Math.ceil(maxRequests * share),
      // A body above the limit is accepted if it is the only one.
      bytes: maxBytes > 0 && used.bytes > 0 && more.bytes > 0 && used.bytes + more.bytes > maxBytes * share,
    });
    const [all, one] = [isOver(this.#all, 1), isOver(own, shareOfOne)];
    if (all.requests || all.bytes) {
      const { requests, bytes } = this.#all;
      return `${requests} requests with ${bytes} bytes under way`;
    }
    if (one.requests || one.bytes)
      return `${own.requests} requests with ${own.bytes} bytes of this client under way`;
    return undefined;
  }

  /** Cuts off slow bodies, to free their room for others. */
  #cutSlow(): void {
    const before = Date.now() - slowAfterMs;
    for (const arriving of this.#arriving) {
      const { request, since } = arriving;
      if (since > before || request.raw.complete) continue;
      this.#arriving.delete(arriving);
      request.raw.destroy();
    }
  }

  #bytesOf(request: FastifyRequest): number {
    const { headers, routeOptions, method, url } = request;
    if (method === 'GET' || method === 'HEAD') return 0;
    const length = Number(headers['content-length'] ?? Number.NaN);
    if (Number.isNaN(length) && headers['transfer-encoding'] === undefined) return 0;
    const isForm = headers['content-type']?.startsWith('multipart/') ?? false;
    if (isForm && !heldForms.test(url)) return Math.min(Number.isNaN(length) ? formBytes : length, formBytes);
    if (isForm && !Number.isNaN(length)) return length;
    const limit = routeOptions.bodyLimit ?? this.#limits.bodyLimit;
    const isKnown = !Number.isNaN(length) && headers['content-encoding'] === undefined;
    return isKnown ? Math.min(length, limit) : limit;
  }
}

/** Returns the identity of a client: its key or, without keys, its address. */
export function clientOf({ meganestCaller, ip }: FastifyRequest): string {
  return meganestCaller?.client ?? meganestCaller?.owner ?? ip;
}

function add(usage: Usage, more: Usage, sign: 1 | -1): void {
  usage.requests += sign * more.requests;
  usage.bytes += sign * more.bytes;
}
