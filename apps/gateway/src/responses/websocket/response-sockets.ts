import { asClient } from '#platform/foundation';
import { MegaNestError } from '#platform/contracts';
import {
  Admission,
  clientOf,
  createLogger,
  Drain,
  OpenSockets,
  ownerOf,
  sendError,
} from '#platform/service-kit';
import websocket, { type WebSocket } from '@fastify/websocket';
import { Inject, Injectable } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { ResponsePlanner } from '../execution/response-planner.js';
import { ResponseRuns } from '../execution/response-runs.js';
import { ResponseSocket, type ResponseSocketOptions, type SocketBounds } from './response-socket.js';

const fixedBounds = {
  maxLanes: 8,
  maxTurns: 32,
  maxBytes: 32 * 1024 * 1024,
  maxResponses: 64,
  maxContextSize: 64 * 1024 * 1024,
  pingMs: 30_000,
};

/** The WebSockets of this gateway. */
@Injectable()
export class ResponseSockets {
  readonly #logger;
  readonly #open: OpenSockets<ResponseSocket>;
  #stopping: MegaNestError | undefined;

  constructor(
    @Inject(ResponsePlanner) private readonly planner: ResponsePlanner,
    @Inject(ResponseRuns) private readonly runs: ResponseRuns,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Admission) private readonly admission: Admission,
    @Inject(Drain) drain: Drain,
  ) {
    drain.onBegin(() => this.#stop());
    const { RESPONSES_MAX_SOCKETS: max } = environment;
    this.#open = new OpenSockets({ service: 'gateway', what: 'open WebSockets', max });
    this.#logger = createLogger('gateway', environment.LOG_LEVEL);
  }

  /** Called before the upgrade. Errors: overloaded where the limit of connections, or of one client's, is reached. */
  check(client: string): void {
    if (this.#stopping) throw this.#stopping;
    this.#open.check(client);
  }

  /** Serves a connection whose upgrade was checked. `admit` throws where the client exceeds the rate limit. */
  accept(socket: WebSocket, request: FastifyRequest, admit: () => Promise<void>): void {
    const owner = ownerOf(request);
    const traceparent = request.meganestCall?.traceparent ?? '';
    const client = clientOf(request);
    const begin: ResponseSocketOptions['start'] = async ({ request: body, warmUp }, turn, local) => {
      const call = { ...turn, caller: request.meganestCaller };
      const plan = await this.planner.plan(owner, body, { call, warmUp, unstored: local });
      const started = await this.runs.start(plan, { call });
      if ('earlier' in started) throw new Error('A turn has no Idempotency-Key');
      return { plan, run: started.run };
    };
    // Messages arrive in the context of the connection.
    const start: typeof begin = (...turn) => asClient(client, () => begin(...turn));
    const hold = (bytes: number) => this.admission.hold(client, bytes);
    const opened = new ResponseSocket(socket, { bounds: this.#bounds(), traceparent, admit, hold, start });
    this.#open.add(opened, client);
    const begunAt = Date.now();
    socket.once('close', (code: number) => {
      this.#open.delete(opened);
      const milliseconds = Date.now() - begunAt;
      this.#logger.info({ code, milliseconds, requestId: request.id }, 'websocket closed');
    });
  }

  /** Waits for running turns, as for answers over HTTP, and then asks clients to connect again. */
  async #stop(): Promise<void> {
    const reason = new MegaNestError('service_unavailable', {
      service: 'gateway',
      detail: 'it is stopping',
      retryAfter: 1,
    });
    this.#stopping = reason;
    await Promise.all([...this.#open].map((socket) => socket.close(reason)));
  }

  #bounds(): SocketBounds {
    const { RESPONSES_SOCKET_LIFETIME_MS: lifetimeMs, REQUEST_TIMEOUT_MS: turnTimeoutMs } = this.environment;
    const { STREAM_TIMEOUT_MS: streamTimeoutMs } = this.environment;
    return { ...fixedBounds, lifetimeMs, turnTimeoutMs, streamTimeoutMs };
  }
}

/**
 * Serves WebSockets on GET /v1/responses. It is registered before the service listens and after the rate limit, so that
 * API keys, limits and request ids apply to the upgrade as to any request. Each message counts against the rate limit,
 * too, and may have at most `maxMessageBytes`, the limit of a request.
 */
export async function serveResponseSockets(
  app: NestFastifyApplication,
  maxMessageBytes: number,
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

/** The error for a request that cannot become a WebSocket. A GET request without an upgrade is a wrong method. */
function refusalOf(request: FastifyRequest, sockets: ResponseSockets): MegaNestError | undefined {
  if (!request.ws) {
    const path = '/v1/responses; use POST, or a WebSocket';
    return new MegaNestError('method_not_allowed', { method: 'GET', path });
  }
  try {
    sockets.check(clientOf(request));
    return undefined;
  } catch (error) {
    return MegaNestError.from(error, 'gateway');
  }
}

/** Counts a message against the gateway's rate limit, where one is configured. Errors: rate_limit_exceeded. */
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
