import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  findNatsServer,
  startEmbeddedPostgres,
  startNatsServer,
  type EmbeddedPostgresOptions,
} from '#local-stack';
import { projectRoot } from '#paths';
import { checkReachable } from './connect-check.js';
import type { LauncherEnvironment } from './environment.js';

/** How an embedded server is watched, and what ends its start. */
export type ServerSupervision = Pick<EmbeddedPostgresOptions, 'restart' | 'onLine' | 'onEvent' | 'signal'>;

/** A server that the services use. */
export interface ProvidedServer {
  url: string;
  /** What the services need beside its URL to be let in. */
  variables?: NodeJS.ProcessEnv;
  /** Stops it, if it is MegaNest's own. */
  stop(): Promise<void>;
}

async function useExisting(variable: string, url: string, defaultPort: number): Promise<ProvidedServer> {
  await checkReachable(variable, url, defaultPort);
  return { url, stop: () => Promise.resolve() };
}

/**
 * The NATS server that NATS_URL names, else one of MegaNest's own, whose token is known to its services alone. Errors: UnreachableError, NatsServerNotFoundError,
 * StartFailedError.
 */
export async function provideNats(
  { NATS_URL, NATS_SERVER_BINARY, MEGANEST_DATA_DIR }: LauncherEnvironment,
  supervision: ServerSupervision,
): Promise<ProvidedServer> {
  if (NATS_URL !== undefined) return useExisting('NATS_URL', NATS_URL, 4222);
  const { path: program } = await findNatsServer({
    explicitPath: NATS_SERVER_BINARY,
    cacheDirectory: join(projectRoot, 'node_modules', '.cache', 'meganest'),
    onProgress: (message) => console.log(message),
  });
  const token = randomBytes(32).toString('base64url');
  const server = await startNatsServer({
    program,
    dataDirectory: join(MEGANEST_DATA_DIR, 'nats'),
    configuration: `authorization { token: "${token}" }\n`,
    ...supervision,
  });
  return { url: server.url, variables: { NATS_TOKEN: token }, stop: () => server.stop() };
}

/** The Postgres that DATABASE_URL names, else the embedded one. Errors: UnreachableError, StartFailedError. */
export async function providePostgres(
  { DATABASE_URL, MEGANEST_DATA_DIR }: LauncherEnvironment,
  supervision: ServerSupervision,
): Promise<ProvidedServer> {
  if (DATABASE_URL !== undefined) return useExisting('DATABASE_URL', DATABASE_URL, 5432);
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(MEGANEST_DATA_DIR, 'postgres'),
    ...supervision,
  });
  return { url: postgres.connectionString, stop: () => postgres.stop() };
}
