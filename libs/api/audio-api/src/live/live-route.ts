import { MegaNestError } from '#platform/contracts';
import {
  assertMayAsk,
  callOf,
  clientOf,
  count,
  Drain,
  milliseconds,
  OpenSockets,
  seconds,
  sendError,
  stoppingError,
} from '#platform/service-kit';
import websocket from '@fastify/websocket';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Transcription } from '../transcription.js';
import { LiveConnection, type LiveBounds } from './live-connection.js';
import { queriedModel } from './live-settings.js';

/** The variables with the limits of live audio. */
export const liveEnvironmentShape = {
  /** Maximum seconds of audio, and of time, of one connection. */
  LIVE_AUDIO_MAX_SECONDS: seconds(1).default(3_600),
  /** A connection without messages for this time is closed. */
  LIVE_AUDIO_IDLE_MS: milliseconds(100).default(60_000),
  /** Maximum number of concurrent connections with live audio. */
  LIVE_AUDIO_MAX_SOCKETS: count(0).default(64),
};

interface LiveEnvironment {
  LIVE_AUDIO_MAX_SECONDS: number;
  LIVE_AUDIO_IDLE_MS: number;
  LIVE_AUDIO_MAX_SOCKETS: number;
  REQUEST_TIMEOUT_MS: number;
  BODY_LIMIT_BYTES: number;
}

/**
 * Serves live audio on GET /v1/realtime, a WebSocket. It is registered before the service listens, so that the
 * checks of origins, keys and request ids apply to the upgrade.
 */
export async function serveLiveAudio(
  app: NestFastifyApplication,
  environment: LiveEnvironment,
): Promise<void> {
  const server = app.getHttpAdapter().getInstance();
  const { BODY_LIMIT_BYTES: maxMessageBytes, LIVE_AUDIO_MAX_SOCKETS: maxSockets } = environment;
  if (!server.hasDecorator('websocketServer'))
    await app.register(websocket, { options: { maxPayload: maxMessageBytes } });
  const transcription = app.get(Transcription);
  const limits = { service: 'asr', what: 'connections with live audio', max: maxSockets };
  const open = new OpenSockets<LiveConnection>(limits);
  let isStopping = false;
  app.get(Drain).onBegin(() => {
    isStopping = true;
    return Promise.all([...open].map((connection) => connection.stop(stoppingError())));
  });
  const check = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!request.ws)
      throw new MegaNestError('method_not_allowed', { method: 'GET', path: '/v1/realtime; use a WebSocket' });
    if (isStopping) throw stoppingError();
    const model = queriedModel(request.query);
    if (model === undefined) assertMayAsk(callOf(request, reply));
    else await transcription.assertModel(model, callOf(request, reply));
    open.check(clientOf(request));
  };
  server.route({
    method: 'GET',
    url: '/v1/realtime',
    preHandler: async (request, reply) => {
      try {
        await check(request, reply);
      } catch (error) {
        sendError(reply, MegaNestError.from(error, 'asr'));
      }
    },
    handler: (_request: FastifyRequest, reply: FastifyReply) => reply,
    wsHandler: (socket, request) => {
      const dialect = /realtime=v1/.test(String(request.headers['openai-beta'] ?? '')) ? 'beta' : 'ga';
      const traceparent = request.meganestCall?.traceparent ?? '';
      const connection = new LiveConnection(socket, {
        bounds: boundsOf(environment),
        dialect,
        transcription,
        traceparent,
        model: queriedModel(request.query),
      });
      open.add(connection, clientOf(request));
      socket.once('close', () => open.delete(connection));
    },
  });
}

function boundsOf(environment: LiveEnvironment): LiveBounds {
  return {
    maxSeconds: environment.LIVE_AUDIO_MAX_SECONDS,
    idleMs: environment.LIVE_AUDIO_IDLE_MS,
    turnTimeoutMs: environment.REQUEST_TIMEOUT_MS,
    maxMessageBytes: environment.BODY_LIMIT_BYTES,
  };
}
