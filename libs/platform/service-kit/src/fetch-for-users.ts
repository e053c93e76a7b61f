import { isIP } from 'node:net';
import {
  Agent,
  buildConnector,
  Headers,
  Response,
  fetch as undiciFetch,
  type RequestInit,
  type Response as ResponseType,
} from 'undici';
import { ForbiddenAddressError, guardedLookup, refusalOfAddress } from './guarded-fetch.js';

/** A `fetch` that ends with its owner. */
export interface OwnedFetch {
  fetch: typeof globalThis.fetch;
  /** Aborts running requests. */
  close(): Promise<void>;
}

/** The reason to refuse a user's URL, from its text alone; undefined if it is acceptable. */
export function refusalOfUrl(text: string, allowPrivate: boolean): string | undefined {
  if (!URL.canParse(text)) return 'it is not a valid URL';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `only http and https are connected to, not ${url.protocol}`;
  if (url.username || url.password) return 'it carries credentials';
  return allowPrivate ? undefined : refusalOfHost(url.hostname);
}

/**
 * The `fetch` for servers of users, for libraries with their own protocol. Every connection, also of a redirect, goes
 * only to a public address, which is checked when it is made. Bodies are not decompressed, and a body that exceeds the
 * limits fails with {@link BodyTooLargeError}.
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

/** Limits of the body of a response. */
interface BodyBounds {
  /** Maximum bytes of a body; default 16 MiB. */
  maxBytes?: number;
  /** Maximum bytes of one event of an event stream; default 4 MiB. */
  maxEventBytes?: number;
  /** Maximum bytes of an event stream; default 64 MiB. */
  maxStreamBytes?: number;
  /**
   * Called when a body is cut off; the reader of an event stream may regard that as a lost connection and keep waiting.
   */
  onCut?: (error: BodyTooLargeError) => void;
}

const mebibyte = 2 ** 20;

/** The body of a response exceeds the limits, or it is compressed although the request did not ask for it. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/** Returns the response with a body that fails when it exceeds the limits. Errors: BodyTooLargeError if compressed. */
async function boundedResponse(response: ResponseType, bounds: BodyBounds): Promise<ResponseType> {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const encoding = headers.get('content-encoding');
  if (encoding && encoding !== 'identity') {
    await body.cancel();
    throw new BodyTooLargeError(`The answer is sent as ${encoding} though that was not asked for.`);
  }
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false;
  const most = isStream ? (bounds.maxStreamBytes ?? 64 * mebibyte) : (bounds.maxBytes ?? 16 * mebibyte);
  const mostOfEvent = isStream ? (bounds.maxEventBytes ?? 4 * mebibyte) : most;
  const counted = body.pipeThrough(countBytes(most, mostOfEvent, bounds.onCut));
  const bounded = new Response(counted as never, { status, statusText, headers });
  Object.defineProperty(bounded, 'url', { value: response.url });
  return bounded;
}

/** Events end with an empty line. */
function countBytes(
  most: number,
  mostOfEvent: number,
  onCut?: BodyBounds['onCut'],
): TransformStream<Uint8Array, Uint8Array> {
  let [total, event, emptyLine] = [0, 0, false];
  return new TransformStream({
    transform(piece, controller) {
      total += piece.length;
      for (let start = 0; start < piece.length;) {
        const end = piece.indexOf(10, start);
        event += (end < 0 ? piece.length : end + 1) - start;
        if (event > mostOfEvent || total > most) {
          const limit = event > mostOfEvent ? mostOfEvent : most;
          const error = new BodyTooLargeError(`The answer is larger than ${limit} bytes.`);
          controller.error(error);
          onCut?.(error);
          return;
        }
        if (end < 0) {
          emptyLine = emptyLine && !hasText(piece, start, piece.length);
          break;
        }
        const isEmpty = !hasText(piece, start, end) && (start > 0 || emptyLine);
        if (isEmpty) event = 0;
        emptyLine = true;
        start = end + 1;
      }
      controller.enqueue(piece);
    },
  });
}

/** True if there is a character other than a line end. */
function hasText(piece: Uint8Array, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if (piece[index] !== 13 && piece[index] !== 10) return true;
  return false;
}
