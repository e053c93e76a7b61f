import { MegaNestError } from '#contracts';
import { sendError } from '#service-kit';
import websocket from '@fastify/websocket';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ResponseSockets } from './response-sockets.js';

/** A message is a request, so it has a request's limit. */
export interface SocketRouteOptions {
  /** Bytes. */
  maxMessageBytes: number;
}

/**
 * Serves WebSockets on GET /v1/responses. Registered before the service listens and after the rate limit, so that keys,
 * limits and request ids hold for the upgrade as for any request; each message counts against the rate limit once more.
 */
export async function serveResponseSockets(
  app: NestFastifyApplication,
  { maxMessageBytes }: SocketRouteOptions,
): Promise<void> {
  const sockets = app.get(ResponseSockets);
  await app.register(websocket, { options: { maxPayload: maxMessageBytes } });
  const server = app.getHttpAdapter().getInstance();
  const admit = admission(server);
  for (const url of ['/v1/responses', '/responses'])
    server.route({
      method: 'GET',
      url,
      preHandler: (request, reply, done) => {
        const refusal = refusalOf(request, sockets);
        if (refusal) return sendError(reply, refusal);
        done();
      },
      handler: (_request: FastifyRequest, reply: FastifyReply) => reply,
      wsHandler: (socket, request) => sockets.accept(socket, request, () => admit(request)),
    });
}

/** Why a request is no WebSocket here: without an upgrade it is a wrong method. */
function refusalOf(request: FastifyRequest, sockets: ResponseSockets): MegaNestError | undefined {
  if (!request.ws) {
    const path = '/v1/responses; use POST, or a WebSocket';
    return new MegaNestError('method_not_allowed', { method: 'GET', path });
  }
  try {
    sockets.check();
    return undefined;
  } catch (error) {
    return MegaNestError.from(error, 'gateway');
  }
}

/** Counts a message against the gateway's rate limit, where there is one. Errors: rate_limit_exceeded. */
function admission(server: FastifyInstance): (request: FastifyRequest) => Promise<void> {
  if (!server.hasDecorator('createRateLimit')) return () => Promise.resolve();
  const check = server.createRateLimit();
  return async (request) => {
    const limit = await check(request);
    if (limit.isAllowed || !limit.isExceeded) return;
    const detail = `More than ${limit.max} in a minute.`;
    throw new MegaNestError('rate_limit_exceeded', { detail, retryAfter: limit.ttlInSeconds });
  };
}
