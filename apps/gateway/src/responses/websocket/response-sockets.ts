import { MegaNestError } from '#contracts';
import { Admission, clientOf, createLogger, Drain, ownerOf } from '#service-kit';
import type { WebSocket } from '@fastify/websocket';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
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
  readonly #open = new Set<ResponseSocket>();
  #stopping: MegaNestError | undefined;

  constructor(
    @Inject(ResponsePlanner) private readonly planner: ResponsePlanner,
    @Inject(ResponseRuns) private readonly runs: ResponseRuns,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Admission) private readonly admission: Admission,
    @Inject(Drain) drain: Drain,
  ) {
    drain.onBegin(() => this.#stop());
    this.#logger = createLogger('gateway', environment.LOG_LEVEL);
  }

  /** Before the upgrade. Errors: overloaded beyond the greatest number of connections. */
  check(): void {
    if (this.#stopping) throw this.#stopping;
    const { RESPONSES_MAX_SOCKETS: most } = this.environment;
    if (this.#open.size < most) return;
    const detail = `${most} WebSockets open`;
    throw new MegaNestError('overloaded', { service: 'gateway', detail, retryAfter: 5 });
  }

  /** Serves a connection whose upgrade was checked. `admit` throws where its client has sent too much. */
  accept(socket: WebSocket, request: FastifyRequest, admit: () => Promise<void>): void {
    const owner = ownerOf(request);
    const traceparent = request.meganestCall?.traceparent ?? '';
    const start: ResponseSocketOptions['start'] = async ({ request: body, warmUp }, turn, local) => {
      const call = { ...turn, caller: request.meganestCaller };
      const plan = await this.planner.plan(owner, body, { call, warmUp, unstored: local });
      const started = await this.runs.start(plan, { call });
      if ('earlier' in started) throw new Error('A turn has no Idempotency-Key');
      return { plan, run: started.run };
    };
    const client = clientOf(request);
    const hold = (bytes: number) => this.admission.hold(client, bytes);
    const opened = new ResponseSocket(socket, { bounds: this.#bounds(), traceparent, admit, hold, start });
    this.#open.add(opened);
    const begunAt = Date.now();
    socket.once('close', (code: number) => {
      this.#open.delete(opened);
      const milliseconds = Date.now() - begunAt;
      this.#logger.info({ code, milliseconds, requestId: request.id }, 'websocket closed');
    });
  }

  /** Turns under way are finished, as answers over HTTP are, and then clients are told to connect again. */
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
