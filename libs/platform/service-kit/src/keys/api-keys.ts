import { MegaNestError } from '#platform/contracts';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ownerOf, type Scope, KeyRing, needsKeys, type KeySettings } from './key-ring.js';
import { ownRequest } from './own-caller.js';

/** Paths that answer without a key, for load balancers and orchestrators. */
const openPaths = new Set(['/live', '/ready', '/health', '/v1/health_check']);

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route that answers without a key, for public files. */
    withoutKey?: boolean;
  }
}

/** The page for people asks for a key itself, before it reads the document. */
function isOpen(request: FastifyRequest): boolean {
  if (request.routeOptions?.config?.withoutKey) return true;
  const [path = ''] = request.url.split('?');
  return openPaths.has(path) || path === '/docs' || path.startsWith('/docs/');
}

/**
 * Checks `Authorization: Bearer <key>`, or `x-api-key` or `api-key`, of WebSockets also the key among the protocols, and what the key may do;
 * without keys all pass.
 */
export class ApiKeys {
  readonly #needed: boolean;
  readonly #ring: KeyRing;
  readonly #failed = new FailedKeys();

  /** Errors: EnvironmentError for a file of keys that cannot be read. */
  constructor(
    settings: KeySettings,
    private readonly logger: Pick<Logger, 'info' | 'error' | 'warn'>,
  ) {
    this.#needed = needsKeys(settings);
    this.#ring = new KeyRing(settings, logger);
    if (settings.API_KEYS.some((key) => key.length < shortestKey))
      logger.warn(`API_KEYS: a key has fewer than ${shortestKey} characters, which can be guessed`);
  }

  /** Sets the caller of the request. Errors: invalid_api_key, insufficient_scope, rate_limit_exceeded. */
  check(request: FastifyRequest): void {
    const own = ownRequest()?.caller;
    if (!this.#needed && !own) return;
    const key = keyOf(request);
    const caller = own ?? this.#ring.find(key ?? '');
    request.meganestCaller = caller;
    if (isOpen(request)) return;
    // A request without a key guesses none: it must not lock others of its address out.
    if (!caller) throw key === undefined ? new MegaNestError('invalid_api_key') : this.#refuse(request);
    const scope = scopeOfRoute(request.method, request.routeOptions.url);
    if (!caller.scopes.has(scope) && !caller.scopes.has('admin'))
      throw new MegaNestError('insufficient_scope', { key: caller.name, scope });
  }

  /** Whether an owner still has a key; everybody has one where none is needed. */
  knows(owner: string): boolean {
    return !this.#needed || this.#ring.hasOwner(owner);
  }

  close(): void {
    this.#ring.close();
  }

  #refuse({ ip, id: requestId }: FastifyRequest): MegaNestError {
    const retryAfter = this.#failed.add(ip);
    if (retryAfter === undefined) return new MegaNestError('invalid_api_key');
    this.logger.warn({ ip, requestId }, 'too many wrong API keys');
    const detail = `too many wrong API keys; try again in ${retryAfter} s.`;
    return new MegaNestError('rate_limit_exceeded', { detail, retryAfter });
  }
}

/** Shorter keys are warned about, and refused on a public address. */
export const shortestKey = 16;

/** A page cannot set headers on a WebSocket: OpenAI's clients send the key among its protocols. */
const keyProtocol = 'openai-insecure-api-key.';

/** Headers for the key of Anthropic's clients, and of Azure's. */
const keyHeaders = ['x-api-key', 'api-key'] as const;

function namedKeyOf(headers: FastifyRequest['headers']): string | undefined {
  const given = keyHeaders.map((name) => headers[name]).find((value) => typeof value === 'string');
  return typeof given === 'string' && given.trim() !== '' ? given.trim() : undefined;
}

function keyOf({ headers }: FastifyRequest): string | undefined {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1] ?? namedKeyOf(headers);
  if (bearer !== undefined || headers.upgrade?.toLowerCase() !== 'websocket') return bearer;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return protocols.find((name) => name.startsWith(keyProtocol))?.slice(keyProtocol.length);
}

/** Wrong keys that one address may send in a minute before it has to wait. */
const maxFailures = 20;
const windowMs = 60_000;
/** Addresses that are kept; beyond it the oldest are forgotten. */
const maxAddresses = 10_000;

interface Failures {
  count: number;
  endsAt: number;
}

/**
 * Counts wrong keys by address. A right key passes all the same: one client behind a proxy must not lock out the
 * others.
 */
class FailedKeys {
  readonly #byAddress = new Map<string, Failures>();

  /** Counts one; answers the seconds to wait where there were too many. */
  add(address: string, now = Date.now()): number | undefined {
    const known = this.#byAddress.get(address);
    const failures = known && known.endsAt > now ? known : { count: 0, endsAt: now + windowMs };
    failures.count += 1;
    this.#byAddress.delete(address);
    this.#byAddress.set(address, failures);
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > maxAddresses && oldest !== undefined) this.#byAddress.delete(oldest);
    return failures.count > maxFailures ? Math.ceil((failures.endsAt - now) / 1000) : undefined;
  }
}

const longest = 200;
/** Routes that read a collection of documents. */
const reading = /^\/v1\/(retrieval|rag_retrieval|dataprep\/(get|get_file)|vector_stores\/:\w+\/search)$/;

/** The entry of the audit log for a request that changes or reads documents; undefined for other requests. */
export function auditedAction(
  request: FastifyRequest,
): { key: string; action: string; collection?: string; document?: string } | undefined {
  const { url: route } = request.routeOptions;
  if (route === undefined || request.method === 'OPTIONS') return undefined;
  const body = (typeof request.body === 'object' && request.body !== null ? request.body : {}) as Record<
    string,
    unknown
  >;
  const named = body['collection'] ?? body['index_name'];
  const isAudited = scopeOfRoute(request.method, route) === 'write' || reading.test(route);
  if (!isAudited && typeof named !== 'string') return undefined;
  const params = request.params as Record<string, string> | undefined;
  const collection = request.auditedCollection ?? named ?? params?.['id'];
  const document = body['file_path'] ?? body['filename'];
  return {
    key: request.meganestCaller?.name ?? ownerOf(request),
    action: `${request.method} ${route}`,
    ...(typeof collection === 'string' && { collection: collection.slice(0, longest) }),
    ...(typeof document === 'string' && { document: document.slice(0, longest) }),
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a form: the collection that its fields name. */
    auditedCollection?: string;
  }
}

/** Figures of the whole installation, and its engines. */
const administrative = new Set([
  '/metrics',
  '/v1/statistics',
  '/v1/statistics/timeline',
  '/v1/doctor',
  '/v1/instances',
  '/v1/engines',
  '/v1/engines/:id',
  '/v1/engines/found',
  '/workers',
  '/workers/:id',
  '/add_worker',
  '/remove_worker',
  '/list_workers',
]);
/** POST routes that only read, as in OPEA. */
const readingDataprep = /^\/v1\/dataprep\/(get|get_file|indices)$/;
const dataprep = /^\/v1\/dataprep(\/|$)/;

/** The scope that a route needs, by its pattern (`/v1/dataprep/jobs/:id`): a spelling of the path cannot pass by it. */
function scopeOfRoute(method: string, route: string | undefined): Scope {
  if (route === undefined) return 'read';
  if (administrative.has(route)) return 'admin';
  const changes = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
  return changes && dataprep.test(route) && !readingDataprep.test(route) ? 'write' : 'read';
}
