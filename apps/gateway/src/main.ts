import { readEnvironment, runMain, startService } from '#service-kit';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { gatewayEnvironmentSchema, type GatewayEnvironment } from './gateway.environment.js';
import { GatewayModule, identity } from './gateway.module.js';
import { serveResponseSockets } from './responses/socket/socket-route.js';

await runMain(() => {
  const environment = readEnvironment(gatewayEnvironmentSchema);
  return startService({
    identity,
    environment,
    port: environment.GATEWAY_PORT,
    module: GatewayModule.register(environment),
    configure: (app) => configure(app, environment),
  });
});

async function configure(app: NestFastifyApplication, environment: GatewayEnvironment): Promise<void> {
  await app.register(multipart);
  if (environment.RATE_LIMIT_PER_MINUTE > 0)
    await app.register(rateLimit, {
      max: environment.RATE_LIMIT_PER_MINUTE,
      timeWindow: '1 minute',
      keyGenerator: (request) => request.headers.authorization ?? request.ip,
    });
  await serveResponseSockets(app, { maxMessageBytes: environment.BODY_LIMIT_BYTES });
}
