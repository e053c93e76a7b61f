import { findNatsServer, startNatsServer, type NatsServer, type NatsServerOptions } from '#local-stack';
import { cacheDirectory } from './cache-directory.js';
import { clusterNats, isCluster, noteUsers } from './cluster.js';
import { createTemporaryDirectory } from './temporary-directory.js';

/** A nats-server for one test file. */
export interface TestNats {
  /** nats://127.0.0.1:… */
  url: string;
  server: NatsServer;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

/** Starts a real nats-server with JetStream on a random port, in a directory of its own; `configuration`: the text of its file. */
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
