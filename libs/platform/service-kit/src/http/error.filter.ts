import { MegaNestError, retrySeconds } from '#platform/contracts';
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { ServiceIdentity } from '../service-identity.js';
import { pathOf } from './http-call.js';
import { bodyEncodings } from './request-body.js';

/** Converts every thrown value to OpenAI's envelope `{error: {message, type, param, code}}` with its status. */
@Catch()
export class HttpErrorFilter implements ExceptionFilter {
  constructor(
    private readonly identity: ServiceIdentity,
    private readonly logger: Logger,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const error = toMegaNestError(thrown, this.identity.service, request);
    if (error.status >= 500)
      this.logger.error({ err: thrown, path: request.url, requestId: request.id }, error.message);
    const reply = http.getResponse<FastifyReply>();
    const text = this.identity.wrongMethodTexts?.[pathOf(request)];
    if (error.code === 'method_not_allowed' && text !== undefined && !reply.sent)
      void ofError(withAllow(reply)).status(405).send({ error: text });
    else sendError(reply, error);
  }
}

/** Writes the envelope, unless the answer has begun: then the writer of the stream reports the error. */
export function sendError(reply: FastifyReply, error: MegaNestError): void {
  if (reply.sent || reply.raw.headersSent) return;
  const seconds = retrySeconds(error);
  if (seconds !== undefined) void reply.header('retry-after', String(seconds));
  if (error.code === 'method_not_allowed') withAllow(reply);
  if (error.status === 415) void reply.header('accept-encoding', bodyEncodings);
  if (error.code === 'invalid_api_key') void reply.header('www-authenticate', 'Bearer');
  const body = reply.server.errorBody?.(error, reply) ?? errorEnvelope(error);
  void ofError(reply).status(error.status).send(body);
}

/** Headers of the answer that the error replaces. Under another content type Fastify would refuse the error's object. */
const headersOfAnswers = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
];

function ofError(reply: FastifyReply): FastifyReply {
  for (const name of headersOfAnswers) void reply.removeHeader(name);
  return reply.header('content-type', 'application/json; charset=utf-8');
}

/** OpenAI's error body. */
export function errorEnvelope(error: MegaNestError) {
  const { message, type, param, code } = error;
  return { error: { message, type, param, code } };
}

function withAllow(reply: FastifyReply): FastifyReply {
  return reply.header('allow', otherMethods(reply.request).join(', '));
}

/** 405 if the path exists with another method, otherwise 404. */
export function noRoute(request: FastifyRequest): MegaNestError {
  const path = pathOf(request);
  const methods = otherMethods(request).filter((method) => method !== 'HEAD');
  if (methods.length === 0)
    return new MegaNestError('not_found', { what: `The path ${request.method} ${path}` });
  return new MegaNestError('method_not_allowed', {
    method: request.method,
    path: `${path}; use ${methods.join(' or ')}`,
  });
}

interface FastifyError extends Error {
  statusCode?: number;
  code?: string;
}

function toMegaNestError(thrown: unknown, service: string, request: FastifyRequest): MegaNestError {
  if (thrown instanceof MegaNestError) return thrown;
  const status = thrown instanceof HttpException ? thrown.getStatus() : (thrown as FastifyError).statusCode;
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  switch (status) {
    case 404:
      return noRoute(request);
    case 413:
      return new MegaNestError('payload_too_large', {
        what: 'The body',
        limit: `${request.routeOptions.bodyLimit} bytes`,
        cause: thrown,
      });
    case 415:
      return new MegaNestError('unsupported_media_type', {
        detail: `${detail}. Send application/json.`,
        cause: thrown,
      });
    case 429:
      return new MegaNestError('rate_limit_exceeded', { detail, retryAfter: 1, cause: thrown });
    case 503:
      return new MegaNestError('service_unavailable', { service, detail, retryAfter: 1, cause: thrown });
    default:
      if (status !== undefined && status >= 400 && status < 500) {
        return new MegaNestError('invalid_request', { detail, cause: thrown });
      }
      return MegaNestError.from(thrown, service);
  }
}

/** An error of the HTTP parser, before there is a request. */
interface ParserError extends Error {
  code?: string;
  reason?: string;
}

/** Answers a request that the HTTP parser refuses, in the format of all errors, and closes the connection. */
export function answerClientError(error: ParserError, socket: Socket): void {
  // The client is gone, or an answer has begun: an error cannot be sent.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const refused = refusalOf(error);
  const body = JSON.stringify(errorEnvelope(refused));
  const head = [
    `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function refusalOf({ code, reason, message }: ParserError): MegaNestError {
  if (code === 'HPE_HEADER_OVERFLOW') return new MegaNestError('headers_too_large', {});
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new MegaNestError('request_timeout', {});
  return new MegaNestError('invalid_request', {
    detail: `The request is not valid HTTP: ${reason ?? message}`,
  });
}

interface Route {
  method: string;
  pattern: RegExp;
}

/** The methods of each path of a server, for the `Allow` header of a 405. */
export class RouteMethods {
  readonly #routes: Route[] = [];

  add(method: string, url: string): void {
    // The catch-all route does not show that a path exists.
    if (url === '*' || url === '/*') return;
    this.#routes.push({ method, pattern: patternOf(url) });
  }

  of(path: string): string[] {
    const matching = this.#routes.filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.map(({ method }) => method))];
  }
}

/** Converts `/v1/files/:id` and `/v1/models/*` to a pattern, as Fastify matches them. */
function patternOf(url: string): RegExp {
  const plain = url.replaceAll(/[$()+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(`^${plain.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`);
}

/** Records each route that is added later. */
export function noteRoutes(server: FastifyInstance): void {
  const routes = new RouteMethods();
  server.decorate('routeMethods', routes);
  server.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.add(each, url);
  });
}

/** Returns the other methods of a request's path; empty if the path does not exist. */
export function otherMethods(request: FastifyRequest): string[] {
  const { method, server } = request;
  const path = pathOf(request);
  const methods = server.routeMethods?.of(path) ?? [];
  if (server.postPaths?.has(path)) methods.push('POST');
  // A refused GET belongs to the path of a WebSocket, which does not support HEAD either.
  const refused = method === 'GET' ? ['GET', 'HEAD'] : [method];
  return [...new Set(methods)].filter((each) => !refused.includes(each));
}

declare module 'fastify' {
  interface FastifyInstance {
    routeMethods?: RouteMethods;
    /** The error body in the form of a request's dialect, with its headers; undefined for OpenAI's form. */
    errorBody?: (error: MegaNestError, reply: FastifyReply) => object | undefined;
    /** Paths that accept POST through a shared route, which the server cannot list. */
    postPaths?: { has(path: string): boolean };
  }
}
