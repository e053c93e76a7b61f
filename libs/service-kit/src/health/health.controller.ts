import { Controller, Get, Inject, Res } from '@nestjs/common';
import { dependencyHealthSchema, serviceHealthSchema, type ServiceHealth } from '#contracts';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { ApiOperation } from '../openapi/api-operation.decorator.js';
import { serviceIdentity, type ServiceIdentity } from '../service-identity.js';
import { HealthRegistry } from './health.registry.js';

const readySchema = serviceHealthSchema.extend({ status: z.enum(['ready', 'not ready']) });
const checkSchema = z.object({
  'Service Title': z.string(),
  'Service Version': z.string(),
  'Service Description': z.string(),
  status: z.enum(['healthy', 'unhealthy']),
  uptime_seconds: z.number(),
  dependencies: z.array(dependencyHealthSchema),
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

  /** The service can work: every dependency answers. */
  @Get('ready')
  @ApiOperation({ summary: 'Can the service work?', answer: readySchema, also: { 503: readySchema } })
  async ready(@Res() reply: FastifyReply): Promise<void> {
    const report = await this.health.report();
    await reply.status(statusOf(report)).send({ status: report.healthy ? 'ready' : 'not ready', ...report });
  }

  /** The reference's three keys, and beside them what was really checked. */
  @Get(['v1/health_check', 'health'])
  @ApiOperation({
    summary: 'Health of the service and its dependencies',
    answer: checkSchema,
    also: { 503: checkSchema },
  })
  async check(@Res() reply: FastifyReply): Promise<void> {
    const report = await this.health.report();
    await reply.status(statusOf(report)).send({
      'Service Title': this.identity.title,
      'Service Version': report.version,
      'Service Description': this.identity.description,
      status: report.healthy ? 'healthy' : 'unhealthy',
      uptime_seconds: report.uptimeSeconds,
      dependencies: report.dependencies,
    });
  }
}

function statusOf(report: ServiceHealth): number {
  return report.healthy ? 200 : 503;
}
