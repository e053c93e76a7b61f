import { access, chmod, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { acquireFileLock } from '../processes/file-lock.js';
import {
  fetchDistributionPackage,
  fetchOfficialRelease,
  fetchPinnedPackage,
  fetchStablePackage,
  isNewEnough,
  oldestVersion,
  runCommand,
} from './official-release.js';

/** Sources of a nats-server program, in the order of the search. */
export type NatsServerSource = 'explicit' | 'path' | 'cache' | 'pinned' | 'package' | 'release';

export interface FoundNatsServer {
  path: string;
  source: NatsServerSource;
  /** Version from `nats-server --version`, without the v: "2.10.27". */
  version: string;
}

export interface FindNatsServerOptions {
  /** Path of a program that must be used. Other sources are not tried then. */
  explicitPath?: string;
  /** Directory for a downloaded program, for the next start. Several processes may share it. */
  cacheDirectory: string;
  /** Directories of a PATH variable. Default: this process's PATH and the places where packages put daemons. */
  searchPath?: string;
  /** `false`: never use the network. */
  fetch?: boolean;
  /** Called before a slow step with a message for the user. */
  onProgress?(message: string): void;
}

/** There is no usable nats-server. The message lists the attempts and explains the installation. */
export class NatsServerNotFoundError extends Error {
  constructor(attempts: readonly string[], options?: ErrorOptions) {
    super(
      [
        'No nats-server found. Install it (Debian and Ubuntu: apt-get install nats-server; macOS: brew install nats-server;',
        'else https://github.com/nats-io/nats-server/releases), or set NATS_URL to a running server.',
        ...attempts.map((attempt) => `  tried: ${attempt}`),
      ].join('\n'),
      options,
    );
    this.name = 'NatsServerNotFoundError';
  }
}

async function inspect(path: string, source: NatsServerSource): Promise<FoundNatsServer> {
  await access(path, constants.X_OK);
  const version = /v?(\d+\.\d+\.\d+\S*)/.exec(await runCommand(path, ['--version']))?.[1];
  if (version === undefined) throw new Error('it does not print a version');
  if (!isNewEnough(version))
    throw new Error(`version ${version} has known vulnerabilities; ${oldestVersion} or later is needed`);
  return { path, source, version };
}

function candidatesOf(searchPath: string): string[] {
  return searchPath
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, 'nats-server'));
}

/** The message of an error. The reason of a failed fetch is in its cause. */
function describeFailure(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && message === 'fetch failed' ? `${message}: ${cause.message}` : message;
}

/** Makes attempts one by one, and collects the reasons of failures for the error at the end. */
class Attempts {
  readonly failures: string[] = [];

  async try(
    label: string,
    find: () => Promise<FoundNatsServer | undefined>,
  ): Promise<FoundNatsServer | undefined> {
    try {
      return await find();
    } catch (error) {
      this.failures.push(`${label}: ${describeFailure(error)}`);
      return undefined;
    }
  }
}

/** Downloads into a separate folder, checks that the program runs, then renames it into place in one step. */
async function fetchInto(
  target: string,
  source: NatsServerSource,
  fetchProgram: (directory: string) => Promise<string>,
): Promise<FoundNatsServer> {
  const directory = await mkdtemp(`${target}.`);
  try {
    const program = await fetchProgram(directory);
    await chmod(program, 0o755);
    const found = await inspect(program, source);
    await rename(program, target);
    return { ...found, path: target };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Fetcher {
  label: string;
  source: NatsServerSource;
  /** Downloads into an empty directory. Returns the path of the program. */
  fetch: (directory: string) => Promise<string>;
}

/** Downloads in order of trust: a file with a known hash, packages that apt verifies, a release over HTTPS only. */
const fetchers: readonly Fetcher[] = [
  { label: 'pinned package', source: 'pinned', fetch: fetchPinnedPackage },
  { label: 'package manager', source: 'package', fetch: fetchDistributionPackage },
  { label: "Debian 13's package", source: 'package', fetch: fetchStablePackage },
  { label: 'official release', source: 'release', fetch: fetchOfficialRelease },
];

/** Downloads the program. If several processes need it, one downloads it and the others wait. */
async function fetchOnce(
  cached: string,
  options: FindNatsServerOptions,
  attempts: Attempts,
): Promise<FoundNatsServer | undefined> {
  await mkdir(options.cacheDirectory, { recursive: true });
  const lock = await acquireFileLock(`${cached}.lock`, { holder: 'another start', waitMs: 300_000 });
  try {
    const fetchedMeanwhile = await inspect(cached, 'cache').catch(() => undefined);
    if (fetchedMeanwhile) return fetchedMeanwhile;
    for (const { label, source, fetch } of fetchers) {
      options.onProgress?.(`fetching nats-server (${label})`);
      const found = await attempts.try(label, () => fetchInto(cached, source, fetch));
      if (found) return found;
    }
    return undefined;
  } finally {
    await lock.release();
  }
}

/** Tries a candidate on PATH. A missing file is not an attempt; a program that exists but is not usable is reported. */
async function findOnPath(
  candidate: string,
  options: FindNatsServerOptions,
  attempts: Attempts,
): Promise<FoundNatsServer | undefined> {
  const exists = await access(candidate, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!exists) return undefined;
  const found = await attempts.try(candidate, () => inspect(candidate, 'path'));
  if (!found) options.onProgress?.(`not using ${attempts.failures.at(-1)}`);
  return found;
}

/**
 * Finds or downloads a nats-server. Sources in order: the explicit path, PATH, the cache, the package with a pinned
 * hash, the package of the package manager, the package of Debian 13, the official release with its checksum. A program
 * that is too old is skipped. Errors: NatsServerNotFoundError with every attempt.
 */
export async function findNatsServer(options: FindNatsServerOptions): Promise<FoundNatsServer> {
  const attempts = new Attempts();
  const { explicitPath } = options;
  if (explicitPath !== undefined) {
    const found = await attempts.try(explicitPath, () => inspect(explicitPath, 'explicit'));
    if (found) return found;
    throw new NatsServerNotFoundError(attempts.failures);
  }
  const searchPath =
    options.searchPath ?? `${process.env.PATH ?? ''}${delimiter}/usr/local/sbin${delimiter}/usr/sbin`;
  for (const candidate of candidatesOf(searchPath)) {
    const found = await findOnPath(candidate, options, attempts);
    if (found) return found;
  }
  if (attempts.failures.length === 0) attempts.failures.push('PATH');
  const cached = join(options.cacheDirectory, 'nats-server');
  const found =
    (await inspect(cached, 'cache').catch(() => undefined)) ??
    (options.fetch === false
      ? undefined
      : await attempts.try('cache', () => fetchOnce(cached, options, attempts)));
  if (!found) throw new NatsServerNotFoundError(attempts.failures);
  return found;
}
