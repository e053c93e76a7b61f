import { builtInServices, healthMethod, type ServiceHealth } from '#contracts';
import type { MegaServiceDefinition, NodeTarget } from '#dag';
import { MessagingConnection, RpcClient } from '#messaging';
import { listDownloads } from '#models';
import { HealthRegistry, hubCacheOf } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from './config/gateway.environment.js';
import { MegaServiceCatalog } from './mega-services/mega-service-catalog.js';

/**
 * Registers NATS and every service with the gateway's health: it is healthy when all of them are, and ready when the services
 * work that its default mega service cannot do without.
 */
@Injectable()
export class GatewayHealth {
  constructor(
    @Inject(HealthRegistry) registry: HealthRegistry,
    @Inject(MessagingConnection) connection: MessagingConnection,
    @Inject(RpcClient) client: RpcClient,
    @Inject(MegaServiceCatalog) catalog: MegaServiceCatalog,
    @Inject(gatewayEnvironment) environment: GatewayEnvironment,
  ) {
    // The services that download do not answer yet; the locks of their downloads say how far they are.
    const cache = hubCacheOf(environment);
    registry.watchDownloads(() => listDownloads(cache));
    registry.register('nats', async () => `${await connection.ping()} ms`);
    for (const service of builtInServices) {
      const check = async (signal: AbortSignal) => {
        const report = await client.request(healthMethod(service), {}, { signal });
        if (!report.healthy) throw new Error(describeFailures(report));
      };
      registry.register(service, check, { required: () => servicesOf(catalog.default()).has(service) });
    }
  }
}

/** The services without which a mega service answers nothing. */
export function servicesOf({ nodes }: Pick<MegaServiceDefinition, 'nodes'>): Set<string> {
  const needed = [...nodes.values()].filter(({ optional, fallback }) => !optional && !fallback);
  return new Set(needed.flatMap(({ target }) => servicesBehind(target)));
}

function servicesBehind(target: NodeTarget): string[] {
  if (target.megaService) return [...servicesOf(target.megaService)];
  return [target.service.split('.', 1).join('')];
}

function describeFailures({ dependencies }: ServiceHealth): string {
  const failed = dependencies.filter(({ healthy }) => !healthy);
  return failed.map(({ name, detail }) => `${name}: ${detail ?? 'not healthy'}`).join('; ');
}
