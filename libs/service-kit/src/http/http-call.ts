import { randomBytes, randomUUID } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What an HTTP request hands down to the calls that it causes. */
export interface HttpCall {
  requestId: string;
  /** Epoch milliseconds. */
  deadline: number;
  traceparent: string;
  /** Aborted when the client goes away before its answer is complete. */
  signal: AbortSignal;
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

/** The request's call; made at the first use, the same one afterwards. */
export function callOf(request: FastifyRequest, reply: FastifyReply): HttpCall {
  request.meganestCall ??= createCall(request, reply);
  return request.meganestCall;
}

function createCall(request: FastifyRequest, reply: FastifyReply): HttpCall {
  const abort = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) abort.abort();
  });
  const timeoutMs = reply.server.requestTimeoutMs ?? 120_000;
  return {
    requestId: request.id,
    deadline: Date.now() + timeoutMs,
    traceparent: continueTrace(request.headers['traceparent']),
    signal: abort.signal,
  };
}

declare module 'fastify' {
  interface FastifyInstance {
    requestTimeoutMs?: number;
  }
}

/** The caller's `x-request-id` where it is a sane token, otherwise a fresh one. */
export function requestIdOf(request: FastifyRequest): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

/** W3C trace context: keeps the caller's trace id, or begins a trace. */
function continueTrace(given: string | string[] | undefined): string {
  if (typeof given === 'string' && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(given)) return given;
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
}
