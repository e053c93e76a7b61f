import { Global, Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { MessagingConnection, type ConnectionOptions } from './connection.js';
import { ObjectStore, type BucketOptions } from './object-store.js';
import { RpcClient } from './rpc-client.js';
import { RpcServer, type RpcServerOptions } from './rpc-server.js';
import { ServiceDirectory } from './discovery.js';

function fromConnection<Provided>(provide: new (connection: MessagingConnection) => Provided) {
  return {
    provide,
    inject: [MessagingConnection],
    useFactory: (connection: MessagingConnection) => new provide(connection),
  };
}

/**
 * Provides the NATS connection, client, object store, directory and, for `connectMicroservice`, the server of an app.
 */
@Global()
@Module({})
export class MessagingModule implements OnApplicationShutdown {
  constructor(
    @Inject(MessagingConnection) private readonly connection: MessagingConnection,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  static register(options: ConnectionOptions & RpcServerOptions & { bucket?: BucketOptions }): DynamicModule {
    const providers = [
      { provide: MessagingConnection, useFactory: () => MessagingConnection.open(options) },
      fromConnection(RpcClient),
      {
        provide: ObjectStore,
        inject: [MessagingConnection],
        useFactory: (connection: MessagingConnection) => new ObjectStore(connection, options.bucket),
      },
      fromConnection(ServiceDirectory),
      {
        provide: RpcServer,
        inject: [MessagingConnection],
        useFactory: (connection: MessagingConnection) => new RpcServer(connection, options),
      },
    ];
    return { module: MessagingModule, providers, exports: providers.map(({ provide }) => provide) };
  }

  async onApplicationShutdown(): Promise<void> {
    this.client.close();
    await this.connection.close();
  }
}
