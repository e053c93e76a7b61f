import { MegaNestError } from '#contracts';
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ServiceIdentity } from '../service-identity.js';
import { bodyEncodings } from './body-encoding.js';
import { otherMethods } from './route-methods.js';

/** Maps everything thrown to OpenAI's envelope `{error: {message, type, param, code}}` with its true status. */
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
    if (error.code === 'method_not_allowed' && text !== undefined)
      void withAllow(reply).status(405).send({ error: text });
    else sendError(reply, error);
  }
}

/** Writes the envelope, unless the answer has begun: then the stream's own writer has to say it. */
export function sendError(reply: FastifyReply, error: MegaNestError): void {
  if (reply.sent || reply.raw.headersSent) return;
  const retryAfter = error.retryAfter ?? (error.status === 503 ? 1 : undefined);
  if (retryAfter) void reply.header('retry-after', String(retryAfter));
  if (error.code === 'method_not_allowed') withAllow(reply);
  if (error.status === 415) void reply.header('accept-encoding', bodyEncodings);
  if (error.code === 'invalid_api_key') void reply.header('www-authenticate', 'Bearer');
  void reply.status(error.status).send(errorEnvelope(error));
}

/** OpenAI's error body. */
export function errorEnvelope(error: MegaNestError) {
  const { message, type, param, code } = error;
  return { error: { message, type, param, code } };
}

function withAllow(reply: FastifyReply): FastifyReply {
  return reply.header('allow', otherMethods(reply.request).join(', '));
}

/** 405 where the path exists under another method, otherwise 404. */
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

function pathOf({ url }: FastifyRequest): string {
  return url.split('?')[0] ?? '';
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
        limit: 'this server',
        cause: thrown,
      });
    case 415:
      return new MegaNestError('unsupported_media_type', {
        detail: `${detail}. Send application/json.`,
        cause: thrown,
      });
    case 429:
      return new MegaNestError('rate_limit_exceeded', { detail, retryAfter: 1, cause: thrown });
    default:
      if (status !== undefined && status >= 400 && status < 500) {
        return new MegaNestError('invalid_request', { detail, cause: thrown });
      }
      return MegaNestError.from(thrown, service);
  }
}
