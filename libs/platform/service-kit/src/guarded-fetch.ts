import { MegaNestError } from '#platform/contracts';
import ipaddr from 'ipaddr.js';
import { lookup as lookUpHost } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';

export interface GuardedFetchOptions {
  /** Maximum bytes of the body. */
  maxBytes: number;
  /** Timeout in milliseconds for the whole fetch with its redirects. */
  timeoutMs: number;
  /** Allows private and loopback addresses too, e.g. of an intranet. Default false. */
  allowPrivate?: boolean;
  /** Path of the field that the URL came from, for errors: `link_list[0]`. */
  param?: string;
  signal?: AbortSignal;
}

export interface FetchedPage {
  bytes: Uint8Array;
  /** The server's Content-Type; empty when it sent none. */
  mimeType: string;
  /** The URL after all redirects. */
  url: string;
}

const maxRedirects = 5;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches the URL of a user. It checks addresses when the connection is made, for every redirect, which prevents DNS
 * rebinding (a name that changes its address between check and use). A name with any refused address is refused.
 * Errors:
 * `forbidden_url`, `unreachable_url`, `payload_too_large`, `cancelled`.
 */
export async function guardedFetch(url: string, options: GuardedFetchOptions): Promise<FetchedPage> {
  const agent = new Agent({ connect: { lookup: guardedLookup(options.allowPrivate ?? false) } });
  const limit = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
  try {
    const { response, finalUrl } = await followRedirects(url, options, { dispatcher: agent, signal });
    const bytes = await readBody(response, finalUrl, options);
    return { bytes, mimeType: headerOf(response, 'content-type'), url: finalUrl.href };
  } catch (error) {
    throw toFetchError(error, url, options, limit);
  } finally {
    await agent.destroy();
  }
}

async function followRedirects(
  url: string,
  options: GuardedFetchOptions,
  requestOptions: { dispatcher: Agent; signal: AbortSignal },
): Promise<{ response: Dispatcher.ResponseData; finalUrl: URL }> {
  let target = checkedUrl(url, url, options);
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const response = await request(target, {
      ...requestOptions,
      headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'MegaNest' },
    });
    const location = headerOf(response, 'location');
    if (!redirectStatuses.has(response.statusCode) || !location) return { response, finalUrl: target };
    await response.body.dump({ limit: 64 * 1024 });
    target = checkedUrl(location, url, options, target);
  }
  throw unreachable(url, `it redirects more than ${maxRedirects} times`, options);
}

/** Returns a URL whose text is acceptable; names are checked when they are looked up. */
function checkedUrl(text: string, userUrl: string, options: GuardedFetchOptions, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw forbidden(userUrl, 'it is not a valid URL', options);
  const url = new URL(text, base?.href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw forbidden(userUrl, `only http and https are fetched, not ${url.protocol}`, options);
  }
  if (url.username || url.password) throw forbidden(userUrl, 'it carries credentials', options);
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  const refusal = isIP(host) && !options.allowPrivate ? refusalOfAddress(host) : undefined;
  if (refusal) throw forbidden(userUrl, refusal, options);
  return url;
}

/** Thrown by the lookup, inside the connection attempt. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/** The reason to refuse an address; undefined if connections may go to it. */
export type AddressRule = (address: string) => string | undefined;

/** A DNS lookup that fails if any address of the name is refused; the socket connects to the checked address. */
export function guardedLookup(allowPrivate: boolean): LookupFunction {
  return lookupWith(allowPrivate ? () => undefined : refusalOfAddress);
}

/** A DNS lookup that fails if any address of the name is refused. */
export function lookupWith(refusal: AddressRule): LookupFunction {
  return (host, options, callback) => {
    lookUpHost(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      // The address is not named: a caller must not be able to read the names of an internal network.
      if (addresses.some(({ address }) => refusal(address) !== undefined))
        return callback(new ForbiddenAddressError('the address of its host is not a public address'), '', 0);
      if (options.all) return callback(null, addresses);
      callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
}

async function readBody(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  url: URL,
  options: GuardedFetchOptions,
): Promise<Uint8Array> {
  const encoding = headers['content-encoding'];
  if (statusCode < 200 || statusCode > 299) throw unreachable(url.href, `it answered ${statusCode}`, options);
  if (encoding && encoding !== 'identity') {
    throw unreachable(url.href, `it is sent as ${String(encoding)} though that was not asked for`, options);
  }
  if (Number(headers['content-length'] ?? 0) > options.maxBytes) throw tooLarge(url, options);
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > options.maxBytes) throw tooLarge(url, options);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function headerOf(response: Dispatcher.ResponseData, name: string): string {
  const value = response.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

function toFetchError(
  error: unknown,
  url: string,
  options: GuardedFetchOptions,
  limit: AbortSignal,
): MegaNestError {
  if (error instanceof MegaNestError) return error;
  if (options.signal?.aborted) return new MegaNestError('cancelled', { cause: error });
  if (limit.aborted) return unreachable(url, `it took longer than ${options.timeoutMs} ms`, options, error);
  if (error instanceof ForbiddenAddressError) return forbidden(url, error.message, options);
  return unreachable(url, describe(error), options, error);
}

function describe(error: unknown): string {
  const failure = error as NodeJS.ErrnoException;
  return failure.code === 'ENOTFOUND'
    ? 'its host is unknown'
    : failure.message || failure.code || String(error);
}

function forbidden(url: string, detail: string, { param }: GuardedFetchOptions): MegaNestError {
  return new MegaNestError('forbidden_url', { url, detail, param });
}

function unreachable(
  url: string,
  detail: string,
  { param }: GuardedFetchOptions,
  cause?: unknown,
): MegaNestError {
  return new MegaNestError('unreachable_url', { url, detail, param, cause });
}

function tooLarge(url: URL, { maxBytes, param }: GuardedFetchOptions): MegaNestError {
  return new MegaNestError('payload_too_large', {
    what: `The page ${url.href}`,
    limit: `${maxBytes} bytes`,
    param,
  });
}

/** Addresses in public ranges that belong to a cloud platform: Azure's wire server. */
const denied: ReadonlySet<string> = new Set(['168.63.129.16', '::ffff:168.63.129.16', '::ffff:a83f:8110']);

/**
 * The reason to refuse an IP address in a request for a user; undefined for an ordinary public address. Everything but
 * global unicast is refused: private and shared networks, loopback, link-local (used by cloud metadata services),
 * multicast, and IPv6 forms that contain an IPv4 address.
 */
export function refusalOfAddress(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is not an IP address`;
  const range = denied.has(address) ? 'cloud platform' : ipaddr.process(address).range();
  return range === 'unicast' ? undefined : `${address} is not a public address (${range})`;
}
