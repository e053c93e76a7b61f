import type { ConnectionOptions } from '@nats-io/transport-node';
import { services, type ServiceName } from '#platform/local-stack';
import {
  createTemporaryDirectory,
  findProgramsWithVector,
  portVariable,
  startDatabase,
  startNatsCluster,
  startService,
  type NativePostgres,
  type NatsNode,
  type TestService,
} from '#platform/testing';

/** Two of each service, servers of NATS in a cluster, and a Postgres. */
export interface Instances {
  nodes: readonly NatsNode[];
  /** The Postgres, if it is a native one. */
  native?: NativePostgres;
  /** How the test itself connects to NATS. */
  observer: Pick<ConnectionOptions, 'servers' | 'user' | 'pass'>;
  /** For each request to a gateway. */
  headers: Record<string, string>;
  urlsOf(name: ServiceName): string[];
  /** Kills one of the two instances of a service, waiting for its end. */
  kill(name: ServiceName): Promise<void>;
  stop(): Promise<void>;
}

/** Why there is no native Postgres; undefined where there is one. */
export function nativeLacks(): string | undefined {
  const found = findProgramsWithVector();
  return 'reason' in found ? found.reason : undefined;
}

/** The same instances on ports of loopback, where there are no rights for namespaces. */
export async function startOnLoopback(collector: number): Promise<Instances> {
  const directory = await createTemporaryDirectory();
  const [nats, database] = await Promise.all([startNatsCluster(3), startDatabase()]);
  const running = new Map<ServiceName, TestService[]>();
  const env = {
    NATS_URL: nats.url,
    NATS_BUCKET_REPLICAS: '3',
    DATABASE_URL: database.url,
    MEGANEST_DATA_DIR: directory.path,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector}`,
    OTEL_BSP_SCHEDULE_DELAY: '200',
  };
  // Two at a time: programs that start at once hold each other up.
  for (const { name } of services) {
    const start = () => startService(name, { ...env, [portVariable(name)]: '0' });
    running.set(name, await Promise.all([start(), start()]));
  }
  return {
    nodes: nats.nodes,
    native: database.native,
    observer: { servers: nats.nodes.map(({ url }) => url) },
    headers: {},
    urlsOf: (name) => running.get(name)!.map(({ url }) => url),
    kill: async (name) => running.get(name)!.pop()?.kill(),
    stop: async () => {
      await Promise.all([...running.values()].flat().map((service) => service.stop()));
      await database.stop();
      await nats.stop();
      await directory.remove();
    },
  };
}
