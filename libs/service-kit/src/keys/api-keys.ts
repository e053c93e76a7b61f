import { MegaNestError } from '#contracts';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { FailedKeys } from './failed-keys.js';
import { KeyRing, needsKeys, type KeySettings } from './key-ring.js';
import { scopeOfRoute } from './scope-of-route.js';

/** Paths that answer without a key: what load balancers and orchestrators ask. */
const openPaths = new Set(['/live', '/ready', '/health', '/v1/health_check']);

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route that answers without a key: files that anybody may have. */
    withoutKey?: boolean;
  }
}

/** The page for people asks for a key itself, before it reads the document. */
function isOpen({ url, routeOptions }: FastifyRequest): boolean {
  if (routeOptions?.config?.withoutKey) return true;
  const path = url.split('?')[0] ?? '';
  return openPaths.has(path) || path === '/docs' || path.startsWith('/docs/');
}

/** Checks `Authorization: Bearer <key>`, of WebSockets also the key among the protocols, and what the key may do; without keys all pass. */
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

  /** Notes whose request it is. Errors: invalid_api_key, insufficient_scope, rate_limit_exceeded. */
  check(request: FastifyRequest): void {
    if (!this.#needed) return;
    const caller = this.#ring.find(keyOf(request) ?? '');
    request.meganestCaller = caller;
    if (isOpen(request)) return;
    if (!caller) throw this.#refuse(request);
    const scope = scopeOfRoute(request.method, request.routeOptions.url);
    if (!caller.scopes.has(scope) && !caller.scopes.has('admin'))
      throw new MegaNestError('insufficient_scope', { key: caller.name, scope });
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

function keyOf({ headers }: FastifyRequest): string | undefined {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined || headers.upgrade?.toLowerCase() !== 'websocket') return bearer;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return protocols.find((name) => name.startsWith(keyProtocol))?.slice(keyProtocol.length);
}
