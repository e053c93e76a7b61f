import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findNatsServer, freePort, startNatsServer, type NatsServer } from '#local-stack';
import { cacheDirectory } from './cache-directory.js';
import { createTemporaryDirectory } from './temporary-directory.js';

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

/** Starts `size` servers on free ports of loopback that know each other. */
export async function startNatsCluster(size = 3): Promise<TestNatsCluster> {
  const { path: program } = await findNatsServer({
    explicitPath: process.env.NATS_SERVER_BINARY,
    cacheDirectory,
  });
  const directory = await createTemporaryDirectory();
  const routePorts = await Promise.all(Array.from({ length: size }, () => freePort()));
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const nodes = await Promise.all(
    routePorts.map(async (routePort, index) => {
      const dataDirectory = join(directory.path, `node-${index}`);
      await mkdir(dataDirectory);
      const configuration = [
        `server_name: node-${index}`,
        `cluster { name: meganest, listen: "127.0.0.1:${routePort}", routes: [${routes}] }`,
      ].join('\n');
      return startNode({ program, dataDirectory, configuration });
    }),
  );
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      await directory.remove();
    },
  };
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
