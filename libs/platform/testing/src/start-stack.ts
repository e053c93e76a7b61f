import { services, type ServiceName } from '#platform/local-stack';
import { type NatsUsers, startNats, type TestNats } from './start-nats.js';
import { startPostgres, type TestPostgres } from './start-postgres.js';
import { startService, type TestService } from './start-service.js';
import { createTemporaryDirectory } from './directories.js';

/** The services of a whole MegaNest; the gateway comes last because its readiness asks for the others. */
export const allServices = services.map(({ name }) => name);

export interface TestStackOptions {
  /** Which services to start. Default: all. */
  services?: readonly ServiceName[];
  /** Added to every service's environment. */
  env?: NodeJS.ProcessEnv;
  /** A NATS server with a user for each service in place of an open one; it is stopped with the stack. */
  nats?: { server: TestNats; users: NatsUsers };
}

export interface TestStack {
  nats: TestNats;
  postgres: TestPostgres;
  dataDirectory: string;
  /** The environment that the services share: a further instance can be started with it. */
  env: NodeJS.ProcessEnv;
  /** A started service by its name. Errors: the stack was started without it. */
  service(name: ServiceName): TestService;
  /** Stops everything and removes its files. */
  stop(): Promise<void>;
}

interface Closable {
  stop(): Promise<void>;
}

/** Stops in reverse order of starting, all of them even when one fails. */
async function stopAll(started: readonly Closable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of started.toReversed()) await part.stop().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, 'The stack did not stop cleanly');
}

async function startServices(
  names: readonly ServiceName[],
  envOf: (name: ServiceName) => NodeJS.ProcessEnv,
  started: Closable[],
): Promise<Map<ServiceName, TestService>> {
  const services = new Map<ServiceName, TestService>();
  const start = async (name: ServiceName) => {
    const service = await startService(name, envOf(name));
    services.set(name, service);
    started.push(service);
  };
  await Promise.all(names.filter((name) => name !== 'gateway').map(start));
  if (names.includes('gateway')) await start('gateway');
  return services;
}

/**
 * Starts NATS, Postgres and services on random ports with files in a temporary directory, and waits until all are
 * ready.
 */
export async function startStack(options: TestStackOptions = {}): Promise<TestStack> {
  const started: Closable[] = [];
  try {
    const directory = await createTemporaryDirectory();
    started.push({ stop: () => directory.remove() });
    const [nats, postgres] = await Promise.all([options.nats?.server ?? startNats(), startPostgres()]);
    started.push(nats, postgres);
    const env = {
      NATS_URL: nats.url,
      DATABASE_URL: postgres.connectionString,
      MEGANEST_DATA_DIR: directory.path,
      ...options.env,
    };
    const { users } = options.nats ?? {};
    const envOf = (name: ServiceName) => ({ ...env, ...users?.variables(name) });
    const services = await startServices(options.services ?? allServices, envOf, started);
    return {
      nats,
      postgres,
      dataDirectory: directory.path,
      env,
      service: (name) => {
        const service = services.get(name);
        if (!service) throw new Error(`This stack was started without ${name}`);
        return service;
      },
      stop: () => stopAll(started),
    };
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}
