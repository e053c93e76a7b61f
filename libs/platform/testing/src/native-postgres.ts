import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, copyFile, cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '#platform/local-stack';
import { cacheDirectory, repositoryRoot, createTemporaryDirectory } from './directories.js';

const run = promisify(execFile);
const installed = '/usr/lib/postgresql';

/** The version of the newest Postgres server that this machine has as Debian installs it, such as 15. */
export function nativePostgres(): string | undefined {
  const versions = existsSync(installed) ? readdirSync(installed) : [];
  const complete = versions.filter((version) => existsSync(join(installed, version, 'bin/initdb')));
  return complete.toSorted((a, b) => Number(b) - Number(a))[0];
}

/** Where the programs of an installed version lie. */
export function installedPrograms(version: string): string {
  return join(installed, version, 'bin');
}

/**
 * Where the programs of a native Postgres with pgvector lie, if this machine has one: the installed one, or the copy
 * that {@link programsWithVector} made. Else the reason why not. Builds nothing.
 */
export function findProgramsWithVector(): { programs: string } | { reason: string } {
  const version = nativePostgres();
  if (version === undefined) return { reason: 'Postgres is not installed' };
  if (existsSync(join('/usr/share/postgresql', version, 'extension/vector.control')))
    return { programs: installedPrograms(version) };
  const built = builtPrograms(version);
  return existsSync(built)
    ? { programs: built }
    : { reason: `Postgres ${version} has no pgvector; npm run test:cluster builds it` };
}

function builtPrograms(version: string): string {
  return join(cacheDirectory, `postgres-${version}-pgvector`, 'usr/lib/postgresql', version, 'bin');
}

/** Debian 13's sources of pgvector, and their SHA-256. */
const pgvector = {
  url: 'http://deb.debian.org/debian/pool/main/p/pgvector/pgvector_0.8.0.orig.tar.gz',
  sha256: '867a2c328d4928a5a9d6f052cd3bc78c7d60228a9b914ad32aa3db88e9de27b0',
};

/**
 * A copy of the installed Postgres with pgvector, built once into the cache; nothing outside changes, and no root is
 * needed. Returns where its programs lie. Errors: no compiler, no network, no headers of that version.
 */
export async function programsWithVector(version: string): Promise<string> {
  const tree = join(cacheDirectory, `postgres-${version}-pgvector`);
  const programs = builtPrograms(version);
  if (existsSync(tree)) return programs;
  await mkdir(cacheDirectory, { recursive: true });
  const draft = await mkdtemp(`${tree}.`);
  try {
    // Postgres finds its files by the path of its program, as long as the folders lie to each other as they did.
    for (const folder of [`lib/postgresql/${version}`, `share/postgresql/${version}`])
      await cp(join('/usr', folder), join(draft, 'usr', folder), { recursive: true, dereference: true });
    await unpackHeaders(version, draft);
    await buildVector(draft, join(draft, 'usr/lib/postgresql', version, 'bin/pg_config'));
    await chmod(draft, 0o755);
    await rename(draft, tree);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return programs;
}

async function unpackHeaders(version: string, tree: string): Promise<void> {
  const state = join(tree, 'apt');
  await mkdir(join(state, 'lists/partial'), { recursive: true });
  await mkdir(join(state, 'cache/archives/partial'), { recursive: true });
  const own = ['-q', '-o', `Dir::State::lists=${state}/lists`, '-o', `Dir::Cache=${state}/cache`];
  await run('apt-get', [...own, 'update']);
  await run('apt-get', [...own, 'download', `postgresql-server-dev-${version}`], { cwd: state });
  const archive = (await readdir(state)).find((name) => name.endsWith('.deb')) ?? '';
  await run('dpkg-deb', ['-x', archive, tree], { cwd: state });
  await rm(state, { recursive: true });
}

async function buildVector(tree: string, config: string): Promise<void> {
  const response = await fetch(pgvector.url);
  const bytes = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== pgvector.sha256) throw new Error(`${pgvector.url} has the SHA-256 ${sha256}`);
  const sources = join(tree, 'pgvector');
  await mkdir(sources);
  await writeFile(join(sources, 'sources.tar.gz'), bytes);
  await run('tar', ['-xzf', 'sources.tar.gz', '--strip-components=1'], { cwd: sources });
  // OPTFLAGS is -march=native otherwise, and bitcode needs the compiler that built Postgres.
  const settings = ['-s', 'OPTFLAGS=', 'with_llvm=no', `PG_CONFIG=${config}`];
  await run('make', settings, { cwd: sources });
  await run('make', [...settings, 'install'], { cwd: sources });
  await rm(sources, { recursive: true });
}

/** A Postgres server of its own on loopback, with a password and TLS. */
export interface NativePostgres {
  /** As its superuser; the certificate is signed by test/fixtures/tls/ca.crt, for localhost and 127.0.0.1. */
  url: string;
  /** Ends it at once, as a crash would; `start` brings it back with its data and its port. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const fixture = (name: string) => join(repositoryRoot, 'test/fixtures/tls', name);

/** Postgres does not run as root: there its programs run as the system's own user. */
function asServerUser(program: string, args: string[]): [string, string[]] {
  if (process.getuid?.() !== 0) return [program, args];
  return ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', program, ...args]];
}

async function ownerOf(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [{ stdout: uid }, { stdout: gid }] = await Promise.all([
    run('id', ['-u', 'postgres']),
    run('id', ['-g', 'postgres']),
  ]);
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * Starts a server of the programs in `programs`, in a temporary directory; `settings` are further ones. Errors: its
 * last words.
 */
export async function startNativePostgres(
  programs: string,
  settings: Record<string, string> = {},
): Promise<NativePostgres> {
  const directory = await createTemporaryDirectory();
  const data = join(directory.path, 'data');
  const password = randomBytes(16).toString('hex');
  const owner = await ownerOf();
  await writeFile(join(directory.path, 'password'), password);
  await copyFile(fixture('server.key'), join(directory.path, 'server.key'));
  await chmod(join(directory.path, 'server.key'), 0o600);
  if (owner)
    for (const path of [
      directory.path,
      ...['password', 'server.key'].map((name) => join(directory.path, name)),
    ])
      await chown(path, owner.uid, owner.gid);
  const initialize = [
    '--username=meganest',
    '--auth=scram-sha-256',
    '--no-sync',
    '--encoding=UTF8',
    '--locale=C',
  ];
  const files = [`--pgdata=${data}`, `--pwfile=${join(directory.path, 'password')}`];
  await run(...asServerUser(join(programs, 'initdb'), [...initialize, ...files]));
  const port = await freePort();
  const start = () =>
    startServer(programs, {
      port: String(port),
      // The second one is not in the certificate.
      listen_addresses: '127.0.0.1,127.0.0.2',
      unix_socket_directories: '',
      max_connections: '400',
      shared_buffers: '128MB',
      fsync: 'off',
      ssl: 'on',
      ssl_cert_file: fixture('server.crt'),
      ssl_key_file: join(directory.path, 'server.key'),
      data_directory: data,
      ...settings,
    });
  let end = await start();
  const url = new URL(`postgres://meganest:${password}@127.0.0.1:${port}/postgres`);
  url.searchParams.set('sslmode', 'verify-full');
  url.searchParams.set('sslrootcert', fixture('ca.crt'));
  return {
    url: url.href,
    kill: () => end('SIGQUIT'),
    start: async () => {
      end = await start();
    },
    stop: async () => {
      // Fast shutdown: it does not wait for clients.
      await end('SIGINT');
      await directory.remove();
    },
  };
}

/** Ends a server by a signal: SIGINT is a fast shutdown, SIGQUIT a crash. */
type EndServer = (signal: 'SIGINT' | 'SIGQUIT') => Promise<void>;

async function startServer(programs: string, settings: Record<string, string>): Promise<EndServer> {
  const { data_directory: data = '', ...others } = settings;
  const options = Object.entries(others).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [program, args] = asServerUser(join(programs, 'postgres'), ['-D', data, ...options]);
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: dirname(data) });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('ready to accept connections')) resolve();
    });
    child.once('exit', () => reject(new Error(`postgres ended: ${lines.slice(-5).join('\n')}`)));
    child.once('error', reject);
  });
  return async (signal) => {
    child.kill(signal);
    await exited;
  };
}
