import {
  findNatsServer,
  startEmbeddedPostgres,
  startNatsServer,
  type EmbeddedPostgresOptions,
} from '#platform/local-stack';
import { projectRoot } from '#platform/foundation';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { LauncherEnvironment } from './environment.js';

/** Options for the supervision of an embedded server, and a signal that aborts its start. */
export type ServerSupervision = Pick<EmbeddedPostgresOptions, 'restart' | 'onLine' | 'onEvent' | 'signal'>;

/** A server that the services use. */
export interface ProvidedServer {
  url: string;
  /** Variables with credentials that the services need in addition to the URL. */
  variables?: NodeJS.ProcessEnv;
  /** Stops the server, if MegaNest started it. */
  stop(): Promise<void>;
}

async function useExisting(variable: string, url: string, defaultPort: number): Promise<ProvidedServer> {
  await checkReachable(variable, url, defaultPort);
  return { url, stop: () => Promise.resolve() };
}

/**
 * Provides the NATS server at NATS_URL, else starts one with a new token, which the services get. While it runs, its
 * URL with the token is in the file `nats/url` of the data directory for services that the user starts; only the owner
 * can read the file. Errors: UnreachableError, NatsServerNotFoundError, StartFailedError.
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
  const dataDirectory = join(MEGANEST_DATA_DIR, 'nats');
  const server = await startNatsServer({
    program,
    dataDirectory,
    configuration: `authorization { token: "${token}" }\n`,
    ...supervision,
  });
  const urlFile = join(dataDirectory, 'url');
  await rm(urlFile, { force: true });
  await writeFile(urlFile, server.url.replace('://', `://${token}@`), { mode: 0o600, flag: 'wx' });
  const stop = async () => {
    await rm(urlFile, { force: true });
    await server.stop();
  };
  return { url: server.url, variables: { NATS_TOKEN: token }, stop };
}

/** Provides Postgres at DATABASE_URL, else starts the embedded one. Errors: UnreachableError, StartFailedError. */
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

/** The server of a variable does not answer. */
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

/** Host and port of a URL with or without a scheme. */
function parseAddress(url: string, defaultPort: number): { host: string; port: number } {
  const { hostname, port } = new URL(url.includes('://') ? url : `tcp://${url}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
}

/**
 * Opens and closes a TCP connection to a URL. Of a list with commas, one address must answer. Errors: UnreachableError
 * with the variable and every address.
 */
export async function checkReachable(variable: string, urls: string, defaultPort: number): Promise<void> {
  const attempts = urls.split(',').map((url) => openOnce(parseAddress(url.trim(), defaultPort)));
  await Promise.any(attempts).catch((error: AggregateError) => {
    const reasons = error.errors.map((reason: Error) => reason.message).join('; ');
    throw new UnreachableError(`${variable}: ${reasons}.`, { cause: error });
  });
}
