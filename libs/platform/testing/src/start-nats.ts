import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  findNatsServer,
  startNatsServer,
  type NatsServer,
  type NatsServerOptions,
  freePort,
} from '#platform/local-stack';
import { cacheDirectory, createTemporaryDirectory, repositoryRoot } from './directories.js';

/**
 * Whether the tests run on a cluster (`npm run test:cluster`): two of each service, NATS with users and TLS, a native
 * Postgres.
 */
export const isCluster = process.env.MEGANEST_TEST_CLUSTER === 'true';

const fixture = (name: string) => join(repositoryRoot, 'test/fixtures/tls', name);

/** The users of each server that was started here, by its address. */
const usersOf = new Map<string, NatsUsers>();

/**
 * The configuration of a NATS server with users and TLS. Test doubles, which are not services of MegaNest, connect
 * without credentials and may do everything.
 */
function clusterNats(): { configuration: string; users: NatsUsers } {
  const users = natsUsers(
    '    { user: double, password: double, permissions { publish: ">", subscribe: ">" } }\n',
  );
  const tls = `tls { cert_file: "${fixture('server.crt')}", key_file: "${fixture('server.key')}" }\n`;
  return { configuration: `${users.configuration}no_auth_user: double\n${tls}`, users };
}

/** Notes whose users a server has. */
function noteUsers(url: string, users: NatsUsers): void {
  usersOf.set(url, users);
}

/** The variables with which a service is let in to a server that was started here; none for other servers. */
export function natsVariables(service: string, url: string | undefined): NodeJS.ProcessEnv {
  const users = usersOf.get(url ?? '');
  return users ? { ...users.variables(service), NATS_CA_FILE: fixture('ca.crt') } : {};
}

/** A nats-server for one test file. */
export interface TestNats {
  /** nats://127.0.0.1:… */
  url: string;
  server: NatsServer;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts a real nats-server with JetStream on a random port, in a directory of its own; `configuration`: the text of
 * its file.
 */
export async function startNats(
  configuration?: string,
  { jetStream = true, port, onLine }: Pick<NatsServerOptions, 'jetStream' | 'port' | 'onLine'> = {},
): Promise<TestNats> {
  const { path: program } = await findNatsServer({
    explicitPath: process.env.NATS_SERVER_BINARY,
    cacheDirectory,
  });
  const directory = await createTemporaryDirectory();
  const cluster = isCluster && configuration === undefined ? clusterNats() : undefined;
  const refused: string[] = [];
  const server = await startNatsServer({
    program,
    dataDirectory: directory.path,
    configuration: configuration ?? cluster?.configuration,
    jetStream,
    port,
    onLine: (line) => {
      if (cluster && / Violation /.test(line.text)) refused.push(line.text);
      onLine?.(line);
    },
  });
  if (cluster) noteUsers(server.url, cluster.users);
  return {
    url: server.url,
    server,
    stop: async () => {
      await server.stop();
      await directory.remove();
      if (refused.length > 0) throw new Error(`NATS refused what a service needs:\n${refused.join('\n')}`);
    },
  };
}

/** A NATS server's users: the file that MegaNest ships, with passwords made for one test. */
export interface NatsUsers {
  /** The text of the server's configuration. */
  configuration: string;
  /** The variables with which a program is that user. */
  variables(user: string): { NATS_USER: string; NATS_PASSWORD: string };
}

/** Reads deploy/nats/users.conf. `more`: entries of further users. */
export function natsUsers(more = ''): NatsUsers {
  const file = readFileSync(join(repositoryRoot, 'deploy/nats/users.conf'), 'utf8').replace(
    /\n {2}\]\n\}\n$/,
    `\n${more}  ]\n}\n`,
  );
  const names = [...file.matchAll(/^ *user: (\S+)$/gm)].map(([, name = '']) => name);
  // nats-server reads a value that begins with a digit as a number.
  const passwords = new Map(names.map((name) => [name, `p${randomBytes(16).toString('hex')}`]));
  const lines = [...passwords].map(([name, word]) => `NATS_${name.toUpperCase()}_PASSWORD: ${word}\n`);
  return {
    configuration: lines.join('') + file,
    variables: (user) => {
      const password = passwords.get(user);
      if (password === undefined) throw new Error(`deploy/nats/users.conf has no user ${user}`);
      return { NATS_USER: user, NATS_PASSWORD: password };
    },
  };
}

/** One server of a cluster. It keeps its files and its ports. */
export interface NatsNode {
  /** nats://127.0.0.1:… */
  url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Brings it back. */
  start(): Promise<void>;
  /** Sends a signal, such as SIGSTOP. */
  signal(signal: NodeJS.Signals): void;
}

/** Servers of NATS that form a cluster with JetStream. */
export interface TestNatsCluster {
  /** The comma list of all nodes, as NATS_URL takes it. */
  url: string;
  nodes: readonly NatsNode[];
  /** Ends all servers and removes their files. */
  stop(): Promise<void>;
}

/** Starts `size` servers on free ports of loopback that know each other. `parent`: folder of their files. */
export async function startNatsCluster(size = 3, parent?: string): Promise<TestNatsCluster> {
  const { path: program } = await findNatsServer({
    explicitPath: process.env.NATS_SERVER_BINARY,
    cacheDirectory,
  });
  const directory = await createTemporaryDirectory(parent);
  const ports = await Promise.all(Array.from({ length: 2 * size }, () => freePort()));
  const [routePorts, monitorPorts] = [ports.slice(0, size), ports.slice(size)];
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const nodes = await Promise.all(
    routePorts.map(async (routePort, index) => {
      const dataDirectory = join(directory.path, `node-${index}`);
      await mkdir(dataDirectory);
      const configuration = [
        `server_name: node-${index}`,
        `http: "127.0.0.1:${monitorPorts[index]}"`,
        `cluster { name: meganest, listen: "127.0.0.1:${routePort}", routes: [${routes}] }`,
      ].join('\n');
      return startNode({ program, dataDirectory, configuration });
    }),
  );
  await whenClusterFormed(monitorPorts.map((port) => `http://127.0.0.1:${port}`));
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      await directory.remove();
    },
  };
}

interface JetStreamState {
  meta_cluster?: { replicas?: { current: boolean }[] };
}

/**
 * Resolves when one server of a cluster leads and the others follow: before that no stream finds its replicas. `urls`:
 * the addresses of their monitoring. Errors: what each server said last.
 */
export async function whenClusterFormed(urls: readonly string[]): Promise<void> {
  const giveUpAt = performance.now() + 180_000;
  const said = new Map<string, string>();
  while (performance.now() < giveUpAt) {
    for (const url of urls) {
      const answer = await fetch(`${url}/jsz`, { signal: AbortSignal.timeout(5_000) })
        .then((response) => response.text())
        .catch((error: Error) => JSON.stringify({ error: `${error.message}: ${String(error.cause)}` }));
      said.set(url, answer);
      const { meta_cluster: cluster } = JSON.parse(answer) as JetStreamState;
      const followers = cluster?.replicas?.filter(({ current }) => current).length ?? 0;
      if (followers === urls.length - 1) return;
    }
    await delay(100);
  }
  const answers = [...said].map(([url, answer]) => `${url}: ${answer}`);
  throw new Error(`The servers of NATS did not form a cluster:\n${answers.join('\n')}`);
}

async function startNode(
  options: Pick<Parameters<typeof startNatsServer>[0], 'program' | 'dataDirectory' | 'configuration'>,
): Promise<NatsNode & { stop(): Promise<void> }> {
  let server: NatsServer = await startNatsServer(options);
  const { url } = server;
  const port = Number(new URL(url).port);
  return {
    url,
    kill: async () => {
      server.process.signal('SIGKILL');
      await server.exited;
    },
    start: async () => {
      server = await startNatsServer({ ...options, port });
    },
    signal: (signal) => server.process.signal(signal),
    stop: () => server.stop(),
  };
}
