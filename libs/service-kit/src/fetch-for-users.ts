import { isIP } from 'node:net';
import { Agent, buildConnector, fetch as undiciFetch, Headers, type RequestInit } from 'undici';
import { boundedResponse, type BodyBounds } from './bounded-response.js';
import { ForbiddenAddressError, guardedLookup } from './guarded-fetch.js';
import { refusalOfAddress } from './public-address.js';

/** A `fetch` that ends with its owner. */
export interface OwnedFetch {
  fetch: typeof globalThis.fetch;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** Why a URL of a user is not connected to, as far as its text tells; undefined where nothing speaks against it. */
export function refusalOfUrl(text: string, allowPrivate: boolean): string | undefined {
  if (!URL.canParse(text)) return 'it is no valid URL';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `only http and https are connected to, not ${url.protocol}`;
  if (url.username || url.password) return 'it carries credentials';
  return allowPrivate ? undefined : refusalOfHost(url.hostname);
}

/**
 * The `fetch` for servers that a user named, for libraries that bring their own protocol: every connection, also that of
 * a redirect, goes to a public address only, checked when it is made. Nothing is inflated, and a body that exceeds the
 * bounds fails with {@link BodyTooLargeError}.
 */
export function fetchForUsers(allowPrivate: boolean, bounds: BodyBounds = {}): OwnedFetch {
  const connector = buildConnector({ lookup: guardedLookup(allowPrivate) });
  const connect: buildConnector.connector = (options, callback) => {
    const refusal = allowPrivate ? undefined : refusalOfHost(options.hostname);
    if (refusal) return callback(new ForbiddenAddressError(refusal), null);
    connector(options, callback);
  };
  const dispatcher = new Agent({ connect });
  const fetch = async (input: unknown, init?: unknown) => {
    const given = init as RequestInit | undefined;
    const headers = new Headers(given?.headers);
    headers.set('accept-encoding', 'identity');
    return boundedResponse(
      await undiciFetch(input as string, { ...given, headers: [...headers], dispatcher }),
      bounds,
    );
  };
  return { fetch, close: () => dispatcher.destroy() };
}

function refusalOfHost(hostname: string): string | undefined {
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  return isIP(host) ? refusalOfAddress(host) : undefined;
}
