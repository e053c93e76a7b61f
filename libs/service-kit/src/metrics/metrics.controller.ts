import { Controller, Get, Header, Inject } from '@nestjs/common';
import { z } from 'zod';
import { ApiOperation } from '../openapi/api-operation.decorator.js';
import { serviceIdentity, type ServiceIdentity } from '../service-identity.js';
import { Metrics, type LatencyStatistics } from './metrics.js';

const latency = z.number().nullable().describe('Seconds');
const statisticsSchema = z.record(
  z.string(),
  z.object({
    p50_latency: latency,
    p99_latency: latency,
    average_latency: latency,
    p50_latency_first_token: latency.optional(),
    p99_latency_first_token: latency.optional(),
    average_latency_first_token: latency.optional(),
    count: z.int(),
  }),
);

@Controller()
export class MetricsController {
  constructor(
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(serviceIdentity) private readonly identity: ServiceIdentity,
  ) {}

  @Get('metrics')
  @ApiOperation({ summary: 'Metrics for Prometheus', answer: 'text/plain' })
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  prometheus(): Promise<string> {
    return this.metrics.registry.metrics();
  }

  /** The reference's shape: operations under `opea_service@<name>`, plus one entry per operation. */
  @Get('v1/statistics')
  @ApiOperation({ summary: 'Latencies of the last ten minutes, by operation', answer: statisticsSchema })
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
