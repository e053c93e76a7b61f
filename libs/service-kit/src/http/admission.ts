import { MegaNestError } from '#contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendError } from './error.filter.js';
import { isUncounted } from './http-call.js';

/** How much a process works on at a time. */
export interface AdmissionLimits {
  service: string;
  /** Requests under way; 0: no bound. */
  maxRequests: number;
  /** Bytes of their bodies, and of the messages of WebSockets. */
  maxBytes: number;
  /** Greatest body of JSON: what one counts for that does not say its length. */
  bodyLimit: number;
}

/** One client has so much of each limit at most, so that it keeps no other out. */
const shareOfOne = 0.5;
/** Uploads of files are handed on in pieces; so much of each is in memory. */
const formBytes = 1024 * 1024;
/** These forms are held whole. */
const heldForms = /\/(audio|asr)\b/;
/** Where there is no room, bodies that have been coming for so long are cut off. */
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
 * The requests that a process works on at a time, and the bytes of their bodies. What is beyond the limits is refused before its
 * body is read.
 */
export class Admission {
  #limits: AdmissionLimits = { service: 'requested', maxRequests: 0, maxBytes: 0, bodyLimit: 0 };
  readonly #all: Usage = { requests: 0, bytes: 0 };
  readonly #clients = new Map<string, Usage>();
  readonly #arriving = new Set<Arriving>();

  /** What is held now. */
  get usage(): Readonly<Usage> {
    return this.#all;
  }

  /** Counts the requests of a server; probes are answered always, and WebSockets count by their messages. */
  guard(server: FastifyInstance, limits: AdmissionLimits): void {
    this.#limits = limits;
    server.addHook('onRequest', (request, reply, done) => {
      if (reply.sent) return;
      if (isUncounted(request)) return done();
      try {
        const release = this.#admit(request);
        reply.raw.once('close', release);
        done();
      } catch (error) {
        sendError(reply, MegaNestError.from(error, 'http'));
      }
    });
  }

  /** Holds bytes of a client until the function that it answers is called. Errors: overloaded. */
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
      // One that is greater than the limit passes alone.
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

  /** Room that is kept by bodies which hardly come is given to others. */
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

/** Who counts as one client: a key, and without keys an address. */
export function clientOf({ meganestCaller, ip }: FastifyRequest): string {
  return meganestCaller?.owner ?? ip;
}

function add(usage: Usage, more: Usage, sign: 1 | -1): void {
  usage.requests += sign * more.requests;
  usage.bytes += sign * more.bytes;
}
