import { invalidField, MegaNestError } from '#platform/contracts';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { BaseEnvironment } from '../config/environment.js';
import { ApiKeys, auditedAction } from '../keys/api-keys.js';
import { needsKeys } from '../keys/key-ring.js';
import { decodeBody, decodedBody, encodingOf, parseJsonBody } from './request-body.js';
import { answerClientError, noteRoutes, sendError } from './error.filter.js';
import { callOf, pathOf, probePaths, requestIdOf } from './http-call.js';
import { loopLag } from '../loop-lag.js';
import { WebPages } from './web-pages.js';

/**
 * Connections for each request that may be under way: most of them wait for their next request. Further ones are
 * closed.
 */
const connectionsOfOneRequest = 2;

/**
 * Fastify with what every service's HTTP side needs: whose web pages may use it, keys, JSON limits, request ids and an
 * access log.
 */
export function createHttpAdapter(environment: BaseEnvironment, logger: Logger): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit: environment.BODY_LIMIT_BYTES,
    rewriteUrl: ({ url }: { url?: string }) => aliasedPath(url ?? '/'),
    genReqId: (request: unknown) => requestIdOf(request as FastifyRequest),
    requestTimeout: environment.RECEIVE_TIMEOUT_MS,
    // Answers already under way are finished, idle connections are closed at once.
    forceCloseConnections: 'idle',
    // Fastify's own answer has no Retry-After; the drain refuses with one.
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    http: {
      // Node would answer without a body: it is checked with the other headers.
      requireHostHeader: false,
      // Node swaps the two times where the one for the head is the longer one.
      headersTimeout: Math.min(60_000, environment.RECEIVE_TIMEOUT_MS || 60_000),
      // How often Node looks for slow requests.
      connectionsCheckingInterval: Math.min(30_000, environment.RECEIVE_TIMEOUT_MS || 30_000),
    },
    // Errors of the router, before any route: broken escapes, a parameter that is too long.
    frameworkErrors: (error: { code: string }, request: FastifyRequest, reply: FastifyReply) => {
      void reply.header('x-request-id', request.id);
      sendError(reply, invalidField('path', reasonOf(error)));
    },
  });
  const server = adapter.getInstance<FastifyInstance>();
  server.decorate('requestTimeoutMs', environment.REQUEST_TIMEOUT_MS);
  server.decorate('streamTimeoutMs', environment.STREAM_TIMEOUT_MS);
  if (environment.REQUESTS_LIMIT > 0)
    server.server.maxConnections = connectionsOfOneRequest * environment.REQUESTS_LIMIT;
  noteRoutes(server);
  // Without it JSON that says to be text would be a string.
  server.removeContentTypeParser('text/plain');
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const { bodyLimit, config } = request.routeOptions;
      const text = decodeBody(await decodedBody(body, encodingOf(request), bodyLimit));
      return parseJsonBody(text, config.bodyBounds);
    },
  );
  const apiKeys = new ApiKeys(environment, logger);
  server.addHook('onClose', (_server, done) => {
    apiKeys.close();
    done();
  });
  server.decorate('hasKey', (owner) => apiKeys.knows(owner));
  const keyed = needsKeys(environment);
  server.decorate('mayRead', (request) => !keyed || request.meganestCaller !== undefined);
  addHooks(server, { pages: new WebPages(environment), apiKeys }, logger);
  return adapter;
}

/** Fastify's message repeats the whole path, which may be long. */
function reasonOf({ code }: { code: string }): string {
  return code === 'FST_ERR_MAX_PARAM_LENGTH' ? 'a part of it is too long' : 'it is not valid';
}

/** Node reads the first of several hosts, and a proxy may read another one. Errors: invalid_request. */
function checkHost({ headers, raw }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion === '1.1') throw invalidField('host', 'is required');
  // Names and values take turns.
  const hosts = raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) throw invalidField('host', 'must be there only once');
}

/** Errors: unsupported_media_type. */
function checkEncoding(request: FastifyRequest): void {
  const { headers } = request;
  const encoding = encodingOf(request);
  if (encoding === undefined || /^application\/json\b/i.test(headers['content-type'] ?? '')) return;
  const detail = `content-encoding: ${encoding} is for JSON bodies; send others plain.`;
  throw new MegaNestError('unsupported_media_type', { detail, param: 'content-encoding' });
}

function addHooks(
  server: FastifyInstance,
  { pages, apiKeys }: { pages: WebPages; apiKeys: ApiKeys },
  logger: Logger,
): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (!probePaths.has(pathOf(request))) loopLag.stir();
    void reply.header('x-request-id', request.id);
    try {
      checkHost(request);
      if (pages.admit(request, reply) === 'answered') return;
      checkEncoding(request);
      apiKeys.check(request);
      callOf(request, reply);
      done();
    } catch (error) {
      sendError(reply, MegaNestError.from(error, 'http'));
    }
  });
  server.addHook('onResponse', (request, reply, done) => {
    const { method, id: requestId } = request;
    const milliseconds = Math.round(reply.elapsedTime);
    const isQuietProbe = reply.statusCode < 400 && probePaths.has(pathOf(request));
    logger[isQuietProbe ? 'debug' : 'info'](
      {
        method,
        path: pathOf(request),
        status: reply.statusCode,
        milliseconds,
        requestId,
        ...(request.meganestCaller && { key: request.meganestCaller.name }),
        ...callerLabels(request.body),
      },
      'request',
    );
    const audited = auditedAction(request);
    if (audited) logger.info({ audit: true, ...audited, status: reply.statusCode, requestId }, 'audit');
    done();
  });
}

/**
 * The path that a request means. Slashes that are doubled or at the end mean nothing: they come of base URLs that end
 * in one. OpenVINO Model Server has OpenAI's API below /v3: its clients find it here by the same paths. Proxies may
 * send whole URLs.
 */
export function aliasedPath(url: string): string {
  const asked = url.replace(/^https?:\/\/[^/?]*/i, '');
  const end = asked.indexOf('?');
  const path = end === -1 ? asked : asked.slice(0, end);
  const plain = `/${path.split('/').filter(Boolean).join('/')}`.replace(/^\/v3(?=\/)/, '/v1');
  return end === -1 ? plain : plain + asked.slice(end);
}

const longest = 128;

/**
 * Who a request says it comes from, for the access log: OpenAI's `safety_identifier`, and `user`, which came before it.
 */
export function callerLabels(body: unknown): { user?: string; safety_identifier?: string } {
  const named = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const labels = ['user', 'safety_identifier'].flatMap((name) => {
    const value = named[name];
    return typeof value === 'string' && value !== '' ? [[name, value.slice(0, longest)]] : [];
  });
  return Object.fromEntries(labels) as ReturnType<typeof callerLabels>;
}
