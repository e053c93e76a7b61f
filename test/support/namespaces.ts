import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

/** Machines of a small network: each a network namespace with an address of its own, on one bridge of this one. */
export interface Network {
  /** The address of this machine, where the others find its servers. */
  host: string;
  /** Adds a machine; `names`: addresses by the names that it knows. */
  add(name: string, address: string, names: Readonly<Record<string, string>>): Machine;
  addressOf(number: number): string;
  /** Hands connections to `host` on a port of the network on to a port of this machine's loopback. */
  forward(port: number, to: number): Promise<void>;
  remove(): Promise<void>;
}

export interface Machine {
  /**
   * Runs a program as user 1000, its root read-only but for a directory in memory, whose path takes the place of `{data}` in
   * the command and in the environment. With `keepsData` the next program of the machine finds that directory again.
   */
  run(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
    options?: { keepsData?: boolean },
  ): ChildProcess;
}

const ip = (...parameters: string[]) => execFileSync('ip', parameters, { stdio: 'pipe' });
const namesDirectory = '/etc/netns';
const user = '1000';

/** Whether this process may make namespaces, as root on Linux may. */
export function canMakeNetworks(): boolean {
  const name = `mnt${process.pid}`;
  try {
    ip('netns', 'add', name);
    execFileSync('ip', ['netns', 'exec', name, 'unshare', '-m', 'setpriv', '--reuid', user, 'true'], {
      stdio: 'pipe',
    });
    ip('link', 'add', `${name}b`, 'type', 'bridge');
    ip('link', 'del', `${name}b`);
    return true;
  } catch {
    return false;
  } finally {
    try {
      ip('netns', 'del', name);
    } catch {
      // It was not made.
    }
  }
}

/** Makes a network of its own; `directory`: a folder for mount points. */
export function makeNetwork(directory: string): Network {
  const prefix = `mn${process.pid % 100_000}`;
  const subnet = `10.213.${process.pid % 250}`;
  const bridge = `${prefix}br`;
  const machines: string[] = [];
  const children: ChildProcess[] = [];
  const servers: Server[] = [];
  // Its owner alone could pass through it.
  chmodSync(directory, 0o755);
  ip('link', 'add', bridge, 'type', 'bridge');
  ip('addr', 'add', `${subnet}.1/24`, 'dev', bridge);
  ip('link', 'set', bridge, 'up');
  return {
    host: `${subnet}.1`,
    addressOf: (number) => `${subnet}.${number}`,
    add: (name, address, names) => {
      const space = `${prefix}-${name}`;
      machines.push(space);
      ip('netns', 'add', space);
      const [inner, outer] = ['eth0', `${prefix}v${machines.length}`];
      ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', space);
      ip('link', 'set', outer, 'master', bridge, 'up');
      ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', inner);
      ip('-n', space, 'link', 'set', inner, 'up');
      ip('-n', space, 'link', 'set', 'lo', 'up');
      const hosts = Object.entries({ localhost: '127.0.0.1', ...names }).map(
        ([host, at]) => `${at} ${host}\n`,
      );
      mkdirSync(join(namesDirectory, space), { recursive: true });
      writeFileSync(join(namesDirectory, space, 'hosts'), hosts.join(''));
      const data = join(directory, name);
      mkdirSync(data, { recursive: true });
      return {
        run: (command, env, { keepsData = false } = {}) => {
          const inData = (text: string) => text.replace('{data}', data);
          const script = asContainer(data, command.map(inData), keepsData);
          const child = spawn('ip', ['netns', 'exec', space, 'unshare', '-m', 'sh', '-c', script], {
            env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, inData(value)])),
            stdio: ['ignore', 'pipe', 'pipe'],
          });
          children.push(child);
          return child;
        },
      };
    },
    forward: async (port, to) => {
      const server = createServer((socket) => {
        const target = connect(to, '127.0.0.1');
        socket.pipe(target).pipe(socket);
        for (const [one, other] of [
          [socket, target],
          [target, socket],
        ] as const)
          one.on('error', () => other.destroy()).on('close', () => other.destroy());
      }).listen(port, `${subnet}.1`);
      await once(server, 'listening');
      servers.push(server);
    },
    remove: async () => {
      const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      const ended = running.map((child) => once(child, 'exit'));
      for (const child of running) child.kill('SIGKILL');
      await Promise.all(ended);
      for (const space of machines) {
        ip('netns', 'del', space);
        rmSync(join(namesDirectory, space), { recursive: true, force: true });
      }
      ip('link', 'del', bridge);
      for (const server of servers) server.close();
    },
  };
}

/** The port of a URL. */
export function portOf(url: string): number {
  return Number(new URL(url).port);
}

function asContainer(data: string, command: readonly string[], keepsData: boolean): string {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return [
    'set -e',
    'mount --make-rprivate /',
    ...(keepsData
      ? [`chown ${user}:${user} '${data}'`, `mount --bind '${data}' '${data}'`]
      : [`mount -t tmpfs -o mode=0700,uid=${user},gid=${user} tmpfs '${data}'`]),
    'mount -o remount,bind,ro /',
    `exec setpriv --reuid ${user} --regid ${user} --clear-groups --bounding-set=-all ${quoted}`,
  ].join('\n');
}
