import {
  coverageOf,
  MegaNestError,
  Patience,
  startSpan,
  type RunningSpan,
  type Support,
} from '#platform/contracts';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { ownerOf, type Caller } from '../keys/key-ring.js';
import { ownRequest } from '../keys/own-caller.js';

/** The context of an HTTP request for the calls that it causes. */
export interface HttpCall {
  requestId: string;
  /** Epoch milliseconds, for work that does not stream. */
  deadline: number;
  /** For streams: each piece of the answer extends the time. */
  patience?: Patience;
  traceparent: string;
  /** Aborted when the client goes away before its answer is complete. */
  signal: AbortSignal;
  /** The language model of the request, once known. */
  model?: string;
  /** Owner of the request; absent if a WebSocket connection has it. */
  owner?: string;
  /** The holder of the request's key. */
  caller?: Caller;
  /** The address under which the client reaches the server: `https://ai.example`. Absent without a valid Host header. */
  origin?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    meganestCall?: HttpCall;
  }
}

/** Injects the {@link HttpCall} of the request. */
export const Call = createParamDecorator((_data: unknown, context: ExecutionContext): HttpCall => {
  const http = context.switchToHttp();
  return callOf(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
});

/** Injects the owner of the request, by its API key. An owner sees only their own objects. */
export const Owner = createParamDecorator((_data: unknown, context: ExecutionContext): string =>
  ownerOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** Returns the request's call; created at the first use. */
export function callOf(request: FastifyRequest, reply: FastifyReply): HttpCall {
  request.meganestCall ??= createCall(request, reply);
  return request.meganestCall;
}

/** Default maximum duration of a stream. */
const defaultStreamMs = 7_200_000;

function createCall(request: FastifyRequest, reply: FastifyReply): HttpCall {
  const abort = new AbortController();
  const span = spanOf(request);
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) abort.abort();
    span?.end(reply.statusCode >= 500 ? new Error(`HTTP ${reply.statusCode}`) : undefined);
  });
  const own = ownRequest();
  const timeoutMs = reply.server.requestTimeoutMs ?? 120_000;
  return {
    requestId: request.id,
    deadline: Date.now() + timeoutMs,
    patience: new Patience(timeoutMs, Date.now() + (reply.server.streamTimeoutMs ?? defaultStreamMs)),
    traceparent: span?.traceparent ?? beginTrace(),
    signal: own ? AbortSignal.any([abort.signal, own.signal]) : abort.signal,
    owner: ownerOf(request),
    caller: request.meganestCaller,
    origin: originOf(request),
  };
}

/** A host and its port, also an IPv6 address. */
const hostName = /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/;

/** The address that the client used. A proxy that changes it names it in the headers `x-forwarded-…`. */
function originOf({ headers, protocol }: Pick<FastifyRequest, 'headers' | 'protocol'>): string | undefined {
  const forwarded = (name: string) =>
    String(headers[name] ?? '')
      .split(',')[0]!
      .trim();
  const host = [forwarded('x-forwarded-host'), headers.host ?? ''].find((name) => hostName.test(name));
  const isSecure = /^https$/i.test(forwarded('x-forwarded-proto') || protocol);
  return host === undefined ? undefined : `${isSecure ? 'https' : 'http'}://${host}`;
}

declare module 'fastify' {
  interface FastifyInstance {
    requestTimeoutMs?: number;
    streamTimeoutMs?: number;
  }
}

/** The caller's `x-request-id` if it is a valid token, otherwise a new id. */
export function requestIdOf(request: FastifyRequest): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Paths that monitoring requests every few seconds: they are neither traced, to keep traces readable, nor limited. */
export const probePaths: ReadonlySet<string> = new Set(['/live', '/ready', '/metrics', '/v1/health_check']);

/** True for probes, and for WebSockets, which count by their messages: such requests do not count for limits. */
export function isUncounted(request: FastifyRequest): boolean {
  return request.headers.upgrade !== undefined || probePaths.has(pathOf(request));
}

/** The path of a request without its query. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.split('?')[0] ?? '';
}

/** Returns the request's span in its caller's trace, or in a new trace. */
function spanOf(request: FastifyRequest): RunningSpan | undefined {
  const { url: route = pathOf(request) } = request.routeOptions;
  if (probePaths.has(route)) return undefined;
  const given = request.headers['traceparent'];
  const isValid = typeof given === 'string' && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(given);
  return startSpan(`${request.method} ${route}`, {
    kind: 'server',
    traceparent: isValid ? given : undefined,
    attributes: {
      'http.request.method': request.method,
      'http.route': route,
      'meganest.request_id': request.id,
    },
  });
}

/** W3C trace context of a trace that this process does not record; the called services may. */
function beginTrace(): string {
  return `00-${randomHex()}-${randomHex().slice(0, 16)}-01`;
}

/** 32 digits. Node caches the randomness of many UUIDs, while `randomBytes` asks the system with each call. */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}

/**
 * Ends the work when the client goes away or the request's time is up, which each item puts off. Errors:
 * deadline_exceeded for the latter.
 */
export async function* withinDeadline<Item>(
  { signal, deadline, patience }: Pick<HttpCall, 'signal' | 'deadline' | 'patience'>,
  work: (signal: AbortSignal) => AsyncIterable<Item>,
): AsyncGenerator<Item, void, void> {
  const late = new AbortController();
  const end = () => late.abort();
  const timer = patience ? undefined : setTimeout(end, Math.max(0, deadline - Date.now()));
  const stopWatch = patience?.watch(end);
  try {
    for await (const item of work(AbortSignal.any([signal, late.signal]))) {
      patience?.renew();
      yield item;
    }
  } catch (error) {
    if (late.signal.aborted && !signal.aborted)
      throw new MegaNestError('deadline_exceeded', { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    stopWatch?.();
  }
}

/** The header that names the fields of a request that had no effect. */
export const ignoredHeaderName = 'x-meganest-ignored';
/** The header that names the steps that failed for an answer. */
export const degradedHeaderName = 'x-meganest-degraded';

/** Characters of the header, and of one name in it. */
const maxHeaderLength = 1024;
const maxNameLength = 128;

/** The value of the header: each name once. Characters that are invalid in a header become `?`; long lists are cut. */
export function ignoredHeader(fields: readonly string[]): string {
  const names = [...new Set(fields)].map((name) =>
    name.slice(0, maxNameLength).replaceAll(/[^\x21-\x7e]/g, '?'),
  );
  const value = names.join(', ');
  return value.length > maxHeaderLength ? `${value.slice(0, maxHeaderLength - 3)}...` : value;
}

/** Names the fields without an effect, so that no field is dropped silently. */
export function setIgnored(reply: FastifyReply, fields: readonly string[]): void {
  if (fields.length > 0) void reply.header(ignoredHeaderName, ignoredHeader(fields));
}

/** Names the steps that failed or came too late, so that the client knows of a degraded answer. */
export function setDegraded(reply: FastifyReply, steps: readonly string[]): void {
  if (steps.length > 0) void reply.header(degradedHeaderName, ignoredHeader(steps));
}

const coverageHeaderName = 'x-meganest-citation-coverage';
const unknownCitationsHeaderName = 'x-meganest-unknown-citations';

/** Says which share of the statements of answers has a citation, and which of their numbers have no passage. */
export function setSupport(reply: FastifyReply, supports: readonly Support[]): void {
  const all = {
    statements: supports.reduce((sum, { statements }) => sum + statements, 0),
    cited: supports.reduce((sum, { cited }) => sum + cited, 0),
    unknown: supports.flatMap(({ unknown }) => unknown),
  };
  const coverage = coverageOf(all);
  if (coverage !== undefined) void reply.header(coverageHeaderName, String(coverage));
  if (all.unknown.length > 0)
    void reply.header(unknownCitationsHeaderName, ignoredHeader(all.unknown.map(String)));
}
