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

/** How large the body of a response may be. */
interface BodyBounds {
  /** Most bytes of a body; default 16 MiB. */
  maxBytes?: number;
  /** Most bytes of one event of an event stream; default 4 MiB. */
  maxEventBytes?: number;
  /** Most bytes of an event stream; default 64 MiB. */
  maxStreamBytes?: number;
  /** Called when a body is cut off; the reader of an event stream may take that for a lost connection and wait on. */
  onCut?: (error: BodyTooLargeError) => void;
}

const mebibyte = 2 ** 20;

/** The body of a response is larger than its reader takes, or is compressed though that was not asked for. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/** The response with a body that fails as soon as it exceeds the bounds. Throws BodyTooLargeError for a compressed one. */
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

/** Whether there is anything but the end of a line. */
function hasText(piece: Uint8Array, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if (piece[index] !== 13 && piece[index] !== 10) return true;
  return false;
}
