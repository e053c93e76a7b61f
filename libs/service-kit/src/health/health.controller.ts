import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { ServiceHealth } from '#contracts';
import type { FastifyReply } from 'fastify';
import { serviceIdentity, type ServiceIdentity } from '../service-identity.js';
import { HealthRegistry } from './health.registry.js';

@Controller()
export class HealthController {
  constructor(
    @Inject(HealthRegistry) private readonly health: HealthRegistry,
    @Inject(serviceIdentity) private readonly identity: ServiceIdentity,
  ) {}

  /** The process runs. */
  @Get('live')
  live(): { status: string } {
    return { status: 'alive' };
  }

  /** The service can work: every dependency answers. */
  @Get('ready')
  async ready(@Res() reply: FastifyReply): Promise<void> {
    const report = await this.health.report();
    await reply.status(statusOf(report)).send({ status: report.healthy ? 'ready' : 'not ready', ...report });
  }

  /** The reference's three keys, and beside them what was really checked. */
  @Get(['v1/health_check', 'health'])
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
