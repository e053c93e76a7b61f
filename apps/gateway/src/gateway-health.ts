import { healthMethod, type ServiceHealth } from '#contracts';
import { MessagingConnection, RpcClient } from '#messaging';
import { HealthRegistry } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';

/** The services that a complete stack runs; one more than these only adds to it. */
const services = [
  'embedding',
  'retrieval',
  'reranking',
  'llm',
  'dataprep',
  'guardrail',
  'asr',
  'tts',
] as const;

/** Registers NATS and every service with the gateway's health: it is healthy when all of them are. */
@Injectable()
export class GatewayHealth {
  constructor(
    @Inject(HealthRegistry) registry: HealthRegistry,
    @Inject(MessagingConnection) connection: MessagingConnection,
    @Inject(RpcClient) client: RpcClient,
  ) {
    registry.register('nats', async () => `${await connection.ping()} ms`);
    for (const service of services) {
      registry.register(service, async (signal) => {
        const report = await client.request(healthMethod(service), {}, { signal });
        if (!report.healthy) throw new Error(describeFailures(report));
      });
    }
  }
}

function describeFailures({ dependencies }: ServiceHealth): string {
  const failed = dependencies.filter(({ healthy }) => !healthy);
  return failed.map(({ name, detail }) => `${name}: ${detail ?? 'not healthy'}`).join('; ');
}
