import type { ServiceHealth } from '#platform/contracts';
import type { MegaServiceDefinition, NodeTarget } from '#platform/dag';
import { MessagingConnection } from '#platform/messaging';
import { listDownloads } from '#engine/models';
import { HealthRegistry, hubCacheOf, type Dependency } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from './config/gateway.environment.js';
import { MegaServiceCatalog } from './mega-services/mega-service-catalog.js';
import { AnnouncedServices } from './mega-services/nodes/announced-services.js';
import { rpcMethods } from './opea/cluster.js';

/** The services that the gateway calls with messages of the contracts. */
const calledServices: readonly string[] = [...new Set(rpcMethods.map(({ service }) => service))]
  .filter((service) => service !== 'gateway')
  .toSorted();

/**
 * Registers NATS and every service with the gateway's health: the services that the gateway calls, the services that
 * mega services name, and the running services that announced themselves. The gateway is healthy if all of them are
 * healthy. It is ready if the services that its default mega service requires are healthy.
 */
@Injectable()
export class GatewayHealth {
  constructor(
    @Inject(HealthRegistry) registry: HealthRegistry,
    @Inject(MessagingConnection) connection: MessagingConnection,
    @Inject(MegaServiceCatalog) catalog: MegaServiceCatalog,
    @Inject(AnnouncedServices) announced: AnnouncedServices,
    @Inject(gatewayEnvironment) environment: GatewayEnvironment,
  ) {
    // A service that downloads its model does not answer yet. The lock files of the downloads show the progress.
    const cache = hubCacheOf(environment);
    registry.watchDownloads(() => listDownloads(cache));
    const warnings = new Map<string, readonly string[]>();
    registry.watchWarnings(() => Promise.resolve([...warnings.values()].flat()));
    registry.register('nats', async () => `${await connection.ping()} ms`);
    registry.registerListed(() => {
      const required = catalog.hasDefault() ? neededServices(catalog.default()) : new Set<string>();
      const named = catalog.list().flatMap((definition) => [...namedServices(definition)]);
      const names = new Set([...calledServices, ...named, ...announced.running]);
      const services = [...names].map((name): Dependency => ({
        name,
        check: async (signal) => {
          const report = await announced.health(name, signal);
          warnings.set(name, report?.warnings ?? []);
          if (report?.healthy === false) throw new Error(describeFailures(report));
        },
        required: required.has(name),
      }));
      return [...services, ...brokenMegaServices(catalog)];
    });
  }
}

/** One dependency that fails while a file is not valid. Without the default mega service the gateway is not ready. */
function brokenMegaServices(catalog: MegaServiceCatalog): Dependency[] {
  const problems = catalog.invalidFiles();
  if (problems.length === 0 && catalog.hasDefault()) return [];
  const detail = problems.length > 0 ? problems.join('; ') : 'the default mega service waits for a service';
  const check = () => Promise.reject(new Error(detail));
  return [{ name: 'megaservices', check, required: !catalog.hasDefault() }];
}

type Nodes = Pick<MegaServiceDefinition, 'nodes'>;

/** The services that a mega service requires: their nodes are not optional and have no fallback. */
export function neededServices({ nodes }: Nodes): Set<string> {
  const needed = [...nodes.values()].filter(({ optional, fallback }) => !optional && !fallback);
  return new Set(needed.flatMap(({ target }) => servicesBehind(target, neededServices)));
}

/** The services that a mega service may call. */
function namedServices({ nodes }: Nodes): Set<string> {
  const targets = [...nodes.values()].flatMap(({ target, fallback }) =>
    fallback ? [target, fallback] : [target],
  );
  return new Set(targets.flatMap((target) => servicesBehind(target, namedServices)));
}

function servicesBehind(target: NodeTarget, inner: (nodes: Nodes) => Set<string>): string[] {
  if (target.megaService) return [...inner(target.megaService)];
  return [target.service.split('.', 1).join('')];
}

function describeFailures({ dependencies }: ServiceHealth): string {
  const failed = dependencies.filter(({ healthy }) => !healthy);
  return failed.map(({ name, detail }) => `${name}: ${detail ?? 'not healthy'}`).join('; ');
}
