import { MessagingConnection, RpcClient } from '#platform/messaging';
import { startNats, startService, type ServiceName, type TestService } from '#platform/testing';

/** A service with a NATS server of its own, and a client that calls it. */
export interface ServiceWithClient {
  /** Of the NATS server. */
  natsUrl: string;
  service: TestService;
  client: RpcClient;
  stop(): Promise<void>;
}

/** Starts a service with these variables. */
export async function startServiceWithClient(
  name: ServiceName,
  variables: NodeJS.ProcessEnv = {},
): Promise<ServiceWithClient> {
  const parts: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const end of parts.splice(0).toReversed()) await end();
  };
  try {
    const nats = await startNats();
    parts.push(() => nats.stop());
    const service = await startService(name, { NATS_URL: nats.url, ...variables });
    parts.push(() => service.stop());
    const connection = await MessagingConnection.open({ url: nats.url, name: 'test' });
    parts.push(() => connection.close());
    const client = new RpcClient(connection);
    parts.push(() => client.close());
    return { natsUrl: nats.url, service, client, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
