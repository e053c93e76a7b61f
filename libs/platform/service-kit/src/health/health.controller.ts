import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  dependencyHealthSchema,
  modelDownloadSchema,
  serviceHealthSchema,
  type DependencyHealth,
  MegaNestError,
} from '#platform/contracts';
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { currentDownloads } from '../config/model-options.js';
import { errorEnvelope } from '../http/error.filter.js';
import { ApiOperation } from '../openapi/routes.js';
import { serviceIdentity, type ServiceIdentity, version } from '../service-identity.js';
import { HealthRegistry } from './health.registry.js';

const readySchema = serviceHealthSchema
  .omit({ ready: true })
  .extend({ status: z.enum(['ready', 'not ready']), degraded: z.array(z.string()).optional() });
const checkSchema = z.object({
  'Service Title': z.string(),
  'Service Version': z.string(),
  'Service Description': z.string(),
  status: z.enum(['healthy', 'unhealthy']),
  uptime_seconds: z.number(),
  dependencies: z.array(dependencyHealthSchema),
  /** Problems that an operator must mend, although every dependency works. */
  warnings: z.array(z.string()).optional(),
  /** Models that services are fetching from the hub. */
  downloads: z.array(modelDownloadSchema).optional(),
});

@Controller()
export class HealthController {
  constructor(
    @Inject(HealthRegistry) private readonly health: HealthRegistry,
    @Inject(serviceIdentity) private readonly identity: ServiceIdentity,
  ) {}

  /** The process runs. */
  @Get('live')
  @ApiOperation({ summary: 'Is the process running?', answer: z.object({ status: z.string() }) })
  live(): { status: string } {
    return { status: 'alive' };
  }

  /** The service can work: every required dependency answers, and the process is not stopping. */
  @Get('ready')
  @ApiOperation({ summary: 'Can the service work?', answer: readySchema, also: { 503: readySchema } })
  async ready(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { ready = false, ...report } = await this.health.report();
    const degraded = report.dependencies.filter(({ healthy }) => !healthy).map(({ name }) => name);
    await answer(reply, ready).send({
      status: ready ? 'ready' : 'not ready',
      ...(ready && degraded.length > 0 && { degraded }),
      ...report,
      dependencies: shownTo(request, report.dependencies),
      warnings: mayRead(request) ? report.warnings : undefined,
    });
  }

  /** The three keys of the reference, and the results of the checks: healthy if all dependencies are. */
  @Get(['v1/health_check', 'health'])
  @ApiOperation({
    summary: 'Health of the service and its dependencies',
    answer: checkSchema,
    also: { 503: checkSchema },
  })
  async check(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const report = await this.health.report();
    const downloads = mayRead(request) ? await this.health.downloads() : [];
    await answer(reply, report.healthy).send({
      'Service Title': this.identity.title,
      'Service Version': report.version,
      'Service Description': this.identity.description,
      status: report.healthy ? 'healthy' : 'unhealthy',
      uptime_seconds: report.uptimeSeconds,
      dependencies: shownTo(request, report.dependencies),
      ...(report.warnings && mayRead(request) && { warnings: report.warnings }),
      ...(downloads.length > 0 && { downloads }),
    });
  }
}

function answer(reply: FastifyReply, isWell: boolean): FastifyReply {
  return isWell ? reply.status(200) : reply.status(503).header('retry-after', '1');
}

/** If keys are configured, only callers with a key see models, counts and host names. */
function shownTo(request: FastifyRequest, dependencies: readonly DependencyHealth[]): DependencyHealth[] {
  if (mayRead(request)) return [...dependencies];
  return dependencies.map(({ name, healthy, required }) => ({
    name,
    healthy,
    ...(required === false && { required }),
  }));
}

function mayRead(request: FastifyRequest): boolean {
  return request.server.mayRead?.(request) !== false;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** True if a request has a key, or does not need one; open paths show less to other requests. */
    mayRead?: (request: FastifyRequest) => boolean;
  }
}

const healthPaths = new Set(['/ready', '/health', '/v1/health_check']);

interface StartingServerOptions {
  identity: ServiceIdentity;
  host: string;
  /** 0: the port is unknown before the service itself listens, so nothing is served. */
  port: number;
  /** True if callers without a key may see the downloads. */
  isOpen: boolean;
}

/**
 * Answers on the port of a service while it downloads and loads its model: `/live` reports that the process runs,
 * `/v1/health_check` shows the progress of the download, everything else answers 503. Returns the function that frees the
 * port. Errors: the errors of listening, e.g. a port in use.
 */
export async function listenWhileStarting(options: StartingServerOptions): Promise<() => Promise<void>> {
  const { identity, host, port, isOpen } = options;
  if (port === 0) return () => Promise.resolve();
  const startedAt = performance.now();
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const isAlive = path === '/live';
    const downloads = isOpen ? currentDownloads() : [];
    const health = {
      'Service Title': identity.title,
      'Service Version': version,
      'Service Description': identity.description,
      status: path === '/ready' ? 'not ready' : 'unhealthy',
      uptime_seconds: Math.round((performance.now() - startedAt) / 1000),
      dependencies: [{ name: 'model', healthy: false, ...(isOpen && { detail: 'is being loaded' }) }],
      ...(downloads.length > 0 && { downloads }),
    };
    const starting = new MegaNestError('service_unavailable', {
      service: identity.service,
      detail: 'it is loading its model',
    });
    const body = isAlive ? { status: 'alive' } : healthPaths.has(path) ? health : errorEnvelope(starting);
    response.writeHead(isAlive ? 200 : 503, {
      'content-type': 'application/json; charset=utf-8',
      connection: 'close',
      ...(!isAlive && { 'retry-after': '5' }),
    });
    response.end(JSON.stringify(body));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}
