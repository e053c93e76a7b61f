import { invalidField, timelineSchema, type Timeline } from '#platform/contracts';
import { Controller, Get, Header, Inject, Query } from '@nestjs/common';
import { z } from 'zod';
import { SchemaPipe } from '../http/request-body.js';
import { ApiOperation } from '../openapi/routes.js';
import { serviceIdentity, type ServiceIdentity } from '../service-identity.js';
import { latencyStatisticsSchema, Metrics, type LatencyStatistics } from './metrics.js';
import { stepSeconds } from './timeline.js';

const statisticsSchema = z.record(z.string(), latencyStatisticsSchema);
const scopeSchema = z.object({
  scope: z
    .enum(['instance', 'cluster'])
    .default('instance')
    .describe('cluster, on the gateway: the merged measurements of all instances of all services'),
});

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

  @Get('v1/statistics/timeline')
  @ApiOperation({ summary: 'The last ten minutes in steps, by operation', answer: timelineSchema })
  timeline(): Timeline {
    const operations = Object.entries(this.metrics.timeline());
    return {
      step_seconds: stepSeconds,
      operations: Object.fromEntries(operations.map(([name, points]) => [this.#nameOf(name), points])),
    };
  }

  #ofCluster(): Promise<Record<string, LatencyStatistics>> {
    const { gatherAll } = this.metrics;
    if (gatherAll) return gatherAll();
    throw invalidField('scope', 'cluster is answered by the gateway alone');
  }

  #nameOf(operation: string): string {
    return `opea_service@${this.identity.service}/${operation}`;
  }

  /** The reference's shape: operations under `opea_service@<name>`, plus one entry per operation. */
  @Get('v1/statistics')
  @ApiOperation({ summary: 'Latencies of the last ten minutes, by operation', answer: statisticsSchema })
  async statistics(
    @Query(new SchemaPipe(scopeSchema)) { scope }: z.output<typeof scopeSchema>,
  ): Promise<Record<string, LatencyStatistics>> {
    if (scope === 'cluster') return this.#ofCluster();
    const operations = await this.metrics.statistics();
    return Object.fromEntries(
      Object.entries(operations).map(([name, latencies]) => [this.#nameOf(name), latencies]),
    );
  }
}
