import { createConnection } from 'node:net';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer, type RunningServer, type ServerOptions } from '../processes/supervise.js';
import { liveByGreeting, waitForLine, type StartingProcess } from '../processes/readiness.js';

export interface NatsServerOptions extends ServerOptions {
  /** Path of the program, from findNatsServer. */
  program: string;
  /** Data directory. The files of JetStream are in its folder `jetstream`. */
  dataDirectory: string;
  /** Text of a configuration file that only its owner can read. The other options override it. */
  configuration?: string;
  /** Default true. */
  jetStream?: boolean;
}

export interface NatsServer extends RunningServer {
  url: string;
}

/** The first message of a server on every connection. */
interface ServerInfo {
  version: string;
  jetstream?: boolean;
}

/** Connects once and reads the INFO line of the server, which shows that the server and JetStream are running. */
function readServerInfo(port: number, signal: AbortSignal): Promise<ServerInfo> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1', signal });
    let received = '';
    socket.on('error', reject);
    socket.on('end', () => reject(new Error('the connection was closed')));
    socket.on('data', (bytes) => {
      received += bytes.toString('utf8');
      if (!received.includes('\r\n')) return;
      socket.destroy();
      resolve(JSON.parse(received.slice('INFO '.length, received.indexOf('\r\n'))) as ServerInfo);
    });
  });
}

const listeningPattern = /Listening for client connections on .*:(\d+)$/;

/** Waits for the log lines with the port and "Server is ready". The actual port for port 0 is only in this log. */
async function awaitPort(child: StartingProcess, jetStream: boolean): Promise<number> {
  let port = 0;
  await waitForLine(child, ({ text }) => {
    port = Number(listeningPattern.exec(text)?.[1] ?? port);
    return text.includes('Server is ready') ? true : undefined;
  });
  const info = await readServerInfo(port, child.signal);
  if (jetStream && info.jetstream !== true) throw new Error('nats-server started without JetStream');
  return port;
}

/** Starts nats-server on loopback and waits until it answers. Errors: StartFailedError with the server's last lines. */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const { jetStream = true } = options;
  const storeDirectory = join(options.dataDirectory, 'jetstream');
  await mkdir(storeDirectory, { recursive: true });
  const configurationFile = join(options.dataDirectory, 'nats.conf');
  await rm(configurationFile, { force: true });
  if (options.configuration !== undefined)
    await writeFile(configurationFile, options.configuration, { mode: 0o600, flag: 'wx' });
  let port = options.port ?? 0;
  const server = await startServer(options, {
    name: 'nats',
    command: options.program,
    args: () => [
      ...(options.configuration === undefined ? [] : ['--config', configurationFile]),
      '--addr',
      '127.0.0.1',
      '--port',
      port === 0 ? '-1' : String(port),
      ...(jetStream ? ['--jetstream', '--store_dir', storeDirectory] : []),
    ],
    // nats-server does not watch its standard input.
    lifeline: 'watcher',
    readiness: async (child) => {
      port = await awaitPort(child, jetStream);
    },
    liveness: liveByGreeting((signal) => readServerInfo(port, signal)),
    startTimeoutMs: 30_000,
  });
  return { url: `nats://127.0.0.1:${port}`, ...server };
}
