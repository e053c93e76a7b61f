export type { CallOptions } from './call-options.js';
export { MessagingConnection, type ConnectionOptions } from './connection.js';
export { MessagingModule } from './messaging.module.js';
export { ObjectStore, type ObjectDescription } from './object-store.js';
export { RpcClient } from './rpc-client.js';
export { RpcContext } from './rpc-context.js';
export { RpcHandler } from './rpc-handler.decorator.js';
export { RpcServer, type RpcServerOptions } from './rpc-server.js';
export { ServiceDirectory, type ServiceInstance } from './service-directory.js';
