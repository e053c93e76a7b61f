import {
  findNatsServer,
  startEmbeddedPostgres,
  startNatsServer,
  type EmbeddedPostgresOptions,
} from '#local-stack';
import { projectRoot } from '#paths';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
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

/** A server that the environment names does not answer. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

function openOnce(address: { host: string; port: number }): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const refuse = (reason: string) =>
      reject(new Error(`nothing answers on ${address.host}:${address.port} (${reason})`));
    const socket = connect({ ...address, timeout: 10_000 }, () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => {
      socket.destroy();
      refuse('no answer within 10 s');
    });
    socket.once('error', (error) => refuse(error.message));
  });
}

/** Host and port of a URL, whose scheme may be missing. */
function parseAddress(url: string, defaultPort: number): { host: string; port: number } {
  const { hostname, port } = new URL(url.includes('://') ? url : `tcp://${url}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
}

/**
 * Opens and closes one TCP connection to a URL, or to the first that answers of a comma list. Errors: UnreachableError that names
 * the variable and every address that was tried.
 */
export async function checkReachable(variable: string, urls: string, defaultPort: number): Promise<void> {
  const attempts = urls.split(',').map((url) => openOnce(parseAddress(url.trim(), defaultPort)));
  await Promise.any(attempts).catch((error: AggregateError) => {
    const reasons = error.errors.map((reason: Error) => reason.message).join('; ');
    throw new UnreachableError(`${variable}: ${reasons}.`, { cause: error });
  });
}
