import { createHash, timingSafeEqual } from 'node:crypto';
import { MegaNestError } from '#contracts';
import type { FastifyRequest } from 'fastify';

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

/** Checks `Authorization: Bearer <key>` against the configured keys in constant time; without keys all pass. */
export class ApiKeys {
  readonly #digests: Buffer[];

  constructor(keys: readonly string[]) {
    this.#digests = keys.map(digest);
  }

  /** Errors: invalid_api_key. */
  check(request: FastifyRequest): void {
    if (this.#digests.length === 0 || isOpen(request)) return;
    const given = digest(bearerToken(request.headers.authorization) ?? '');
    // Every key is compared, so that the time does not tell which one came close.
    const matches = this.#digests.filter((known) => timingSafeEqual(known, given));
    if (matches.length === 0) throw new MegaNestError('invalid_api_key');
  }
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
}
