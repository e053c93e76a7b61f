import { serveLiveAudio } from '#api/audio-api';
import { MegaNestError } from '#platform/contracts';
import { acceptUrlencodedIngests } from '#api/dataprep-api';
import { needsKeys, ownerOf, probePaths, runService } from '#platform/service-kit';
import { RateCountsRepository } from '#platform/storage';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { SharedRateLimit } from './auth/shared-rate-limit.js';
import { gatewayEnvironmentSchema, type GatewayEnvironment } from './config/gateway.environment.js';
import { dialectError } from './dialect-errors.js';
import { GatewayModule, identity } from './gateway.module.js';
import { serveResponseSockets } from './responses/websocket/response-sockets.js';
import { serveWeb } from './web/serve-web.js';

await runService({
  identity,
  environment: gatewayEnvironmentSchema,
  port: ({ GATEWAY_PORT }) => GATEWAY_PORT,
  module: (environment) => GatewayModule.register(environment),
  configure,
});

async function configure(app: NestFastifyApplication, environment: GatewayEnvironment): Promise<void> {
  app.getHttpAdapter().getInstance().decorate('errorBody', dialectError);
  await app.register(multipart);
  acceptUrlencodedIngests(app);
  if (environment.RATE_LIMIT_PER_MINUTE > 0 || environment.API_KEYS_FILE !== undefined)
    await limitRate(app, environment);
  await serveResponseSockets(app, environment.BODY_LIMIT_BYTES);
  if (environment.WEB_UI) await serveWeb(app);
  await serveLiveAudio(app, environment);
}

async function limitRate(app: NestFastifyApplication, environment: GatewayEnvironment): Promise<void> {
  const hasKeys = needsKeys(environment);
  const limitOf = ({ meganestCaller }: FastifyRequest) =>
    meganestCaller?.ratePerMinute ?? environment.RATE_LIMIT_PER_MINUTE;
  const counts = app.get(RateCountsRepository);
  await app.register(rateLimit, {
    store: new SharedRateLimit((key, windowMs) => counts.add(key, windowMs)).store,
    max: limitOf,
    timeWindow: '1 minute',
    // The owner is the same for each spelling of a key. Without keys, clients could vary the header to evade the limit.
    keyGenerator: (request) => (hasKeys ? ownerOf(request) : request.ip),
    allowList: (request) => limitOf(request) === 0 || isFree(request) || isInBackground(request),
    errorResponseBuilder: (_request, { max, ttl }) => {
      const retryAfter = Math.ceil(ttl / 1000);
      const detail = `The limit is ${max} requests per minute; try again in ${retryAfter} s.`;
      return new MegaNestError('rate_limit_exceeded', { detail, retryAfter });
    },
  });
}

/** A request of a batch, which has limits of its own. */
function isInBackground({ meganestCaller }: FastifyRequest): boolean {
  return meganestCaller?.client !== undefined;
}

/** Requests without a limit: probes, and the files of the web app, which a page load requests all at once. */
function isFree({ routeOptions: { url, config } }: FastifyRequest): boolean {
  return probePaths.has(url ?? '') || config.withoutKey === true;
}
