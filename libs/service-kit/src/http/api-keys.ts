import { createHash, timingSafeEqual } from 'node:crypto';
import { MegaNestError } from '#contracts';
import type { FastifyRequest } from 'fastify';

/** Paths that answer without a key: what load balancers and orchestrators ask. */
const openPaths = new Set(['/live', '/ready', '/health', '/v1/health_check']);

/** The page for people asks for a key itself, before it reads the document. */
function isOpen(path: string): boolean {
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
    if (this.#digests.length === 0 || isOpen(request.url.split('?')[0] ?? '')) return;
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
