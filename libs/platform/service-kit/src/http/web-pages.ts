import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { MegaNestError } from '#platform/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BaseEnvironment } from '../config/environment.js';
import { needsKeys } from '../keys/key-ring.js';

/** The variables that say which web pages may use a service. */
export type PagePolicy = Pick<
  BaseEnvironment,
  'ALLOWED_ORIGINS' | 'ALLOWED_HOSTS' | 'API_KEYS' | 'API_KEYS_FILE' | 'HOST' | 'MEGANEST_ALLOW_OPEN'
>;

/**
 * Decides which web pages may use a service. A browser sends forms, simple requests and WebSockets of any page to any
 * server that its user can reach, so a page on the internet could drive a server on the user's own machine. Programs
 * send no `Origin` and pass. The server's own pages pass; other pages pass where ALLOWED_ORIGINS has their origin, and
 * get CORS headers. Without keys the server answers only under names that cannot be pointed at it from outside (DNS
 * rebinding).
 */
export class WebPages {
  readonly #origins: ReadonlySet<string>;
  readonly #hosts: ReadonlySet<string>;
  readonly #keyed: boolean;
  readonly #trustedNetwork: boolean;

  constructor({ ALLOWED_ORIGINS, ALLOWED_HOSTS, HOST, MEGANEST_ALLOW_OPEN, ...keys }: PagePolicy) {
    this.#origins = new Set(ALLOWED_ORIGINS);
    this.#hosts = new Set([...ALLOWED_HOSTS, HOST.toLowerCase()]);
    this.#keyed = needsKeys(keys);
    this.#trustedNetwork = MEGANEST_ALLOW_OPEN;
  }

  /** Lets a request in, or answers it where it is a preflight. Errors: forbidden_host, forbidden_origin. */
  admit(request: FastifyRequest, reply: FastifyReply): 'admitted' | 'answered' {
    const { origin } = request.headers;
    if (this.#origins.size > 0) void reply.header('vary', 'origin');
    if (origin === undefined || !this.#isAllowed(origin)) {
      this.#check(request);
      return 'admitted';
    }
    void reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': '*' });
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return 'admitted';
    void reply.headers(preflightHeaders(request.headers)).status(204).send();
    return 'answered';
  }

  #isAllowed(origin: string): boolean {
    return this.#origins.has(origin) || this.#origins.has('*');
  }

  #check({ method, headers }: FastifyRequest): void {
    const { origin, host } = headers;
    if (!this.#keyed && host !== undefined && !this.#isOwnName(nameOf(host)))
      throw new MegaNestError('forbidden_host', { host });
    if (isOwnPage(headers) || (origin === undefined && isVisit(method, headers))) return;
    throw new MegaNestError('forbidden_origin', { origin: origin ?? 'another site' });
  }

  /** Names that only the operator, or the system, can point at this server. */
  #isOwnName(name: string): boolean {
    if (name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0) return true;
    return this.#hosts.has(name) || (this.#trustedNetwork && isLocalName(name));
  }
}

/** True for names outside the public DNS: containers, Kubernetes services, hosts of a local network. */
function isLocalName(name: string): boolean {
  return !name.includes('.') || name.endsWith('.local') || name.endsWith('.internal');
}

/** The name in a Host header, without its port and the brackets of an IPv6 address. */
function nameOf(host: string): string {
  return host
    .replace(/:\d*$/, '')
    .replaceAll(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/**
 * Whether a request comes from a program or from the server's own page. Browsers that send `Sec-Fetch-Site` say it
 * there, also behind a proxy that changes the Host; for the others the page's origin is one of the names that were
 * asked for. A page cannot set these headers on a request to another origin.
 */
function isOwnPage(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const asked = [host, ...String(headers['x-forwarded-host'] ?? '').split(',')];
  return asked.some((name) => name?.trim() === new URL(origin).host);
}

/** A link on another site that its reader followed: the answer is shown to the reader, not to that site. */
function isVisit(method: string, headers: IncomingHttpHeaders): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function preflightHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const wanted = headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-max-age': '600',
    ...(wanted !== undefined && { 'access-control-allow-headers': wanted }),
    // Chrome asks where a public page wants to reach a private address.
    ...(headers['access-control-request-private-network'] && {
      'access-control-allow-private-network': 'true',
    }),
  };
}
