import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createTemporaryDirectory, freePort } from '#platform/testing';

/** A PgBouncer in front of one Postgres server. */
export interface PgBouncer {
  /** Without TLS, on loopback. */
  url: string;
  /** Ends it at once; `start` brings it back on its port. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Whether this machine has PgBouncer. */
export function hasPgBouncer(): boolean {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts one that pools transactions; `connections`: those to the server, for all clients together. */
export async function startPgBouncer(serverUrl: string, connections: number): Promise<PgBouncer> {
  const server = new URL(serverUrl);
  const directory = await createTemporaryDirectory();
  const [port, file] = [await freePort(), join(directory.path, 'pgbouncer.ini')];
  const user = decodeURIComponent(server.username);
  const password = decodeURIComponent(server.password);
  await writeFile(join(directory.path, 'users.txt'), `"${user}" "${password}"\n`);
  const settings = [
    '[databases]',
    `* = host=${server.hostname} port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'pool_mode = transaction',
    `default_pool_size = ${connections}`,
    'auth_type = scram-sha-256',
    `auth_file = ${join(directory.path, 'users.txt')}`,
    'server_tls_sslmode = require',
    // 15 seconds otherwise: a server that comes back would not be asked for so long.
    'server_login_retry = 1',
  ];
  await writeFile(file, `${settings.join('\n')}\n`);
  // It does not run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await giveToPostgres(directory.path, file, join(directory.path, 'users.txt'));
  const start = async () => {
    const asUser = ['--reuid=postgres', '--regid=postgres', '--clear-groups', 'pgbouncer', file];
    const child = isRoot ? spawn('setpriv', asUser) : spawn('pgbouncer', [file]);
    const exited = once(child, 'exit');
    await new Promise<void>((resolve, reject) => {
      const lines: string[] = [];
      createInterface({ input: child.stderr }).on('line', (line) => {
        lines.push(line);
        if (line.includes('process up')) resolve();
      });
      child.once('exit', () => reject(new Error(`pgbouncer ended: ${lines.slice(-5).join('\n')}`)));
      child.once('error', reject);
    });
    return async () => {
      child.kill('SIGKILL');
      await exited;
    };
  };
  let end = await start();
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  url.search = '';
  return {
    url: url.href,
    kill: () => end(),
    start: async () => {
      end = await start();
    },
    stop: async () => {
      await end();
      await directory.remove();
    },
  };
}

async function giveToPostgres(...paths: string[]): Promise<void> {
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
  );
  for (const path of paths) await chown(path, uid!, gid!);
}
