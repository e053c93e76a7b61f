import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findNatsServer, freePort, startNatsServer, type NatsServer } from '#local-stack';
import { cacheDirectory, createTemporaryDirectory } from './directories.js';

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
  await whenFormed(monitorPorts);
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

/** Resolves when one server leads and the others follow: before that no stream finds its replicas. */
async function whenFormed(monitorPorts: readonly number[]): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (performance.now() < giveUpAt) {
    for (const port of monitorPorts) {
      const answer = await fetch(`http://127.0.0.1:${port}/jsz`);
      const { meta_cluster: cluster } = (await answer.json()) as JetStreamState;
      const followers = cluster?.replicas?.filter(({ current }) => current).length ?? 0;
      if (followers === monitorPorts.length - 1) return;
    }
    await delay(100);
  }
  throw new Error('The servers of NATS formed no cluster within a minute');
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
