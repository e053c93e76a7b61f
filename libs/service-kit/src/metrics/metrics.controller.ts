import { Controller, Get, Header, Inject } from '@nestjs/common';
import { serviceIdentity, type ServiceIdentity } from '../service-identity.js';
import { Metrics, type LatencyStatistics } from './metrics.js';

@Controller()
export class MetricsController {
  constructor(
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(serviceIdentity) private readonly identity: ServiceIdentity,
  ) {}

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  prometheus(): Promise<string> {
    return this.metrics.registry.metrics();
  }

  /** The reference's shape: operations under `opea_service@<name>`, plus one entry per operation. */
  @Get('v1/statistics')
  async statistics(): Promise<Record<string, LatencyStatistics>> {
    const operations = await this.metrics.statistics();
    return Object.fromEntries(
      Object.entries(operations).map(([name, latencies]) => [
        `opea_service@${this.identity.service}/${name}`,
        latencies,
      ]),
    );
  }
}
