export { freePort, portVariable, type ServiceName } from '#local-stack';
export { startBalancer, type Balancer } from './balancer.js';
export { bundleProgram } from './bundle-program.js';
export { cacheDirectory, repositoryRoot } from './cache-directory.js';
export { isCluster } from './cluster.js';
export {
  findProgramsWithVector,
  installedPrograms,
  nativePostgres,
  programsWithVector,
  startNativePostgres,
  type NativePostgres,
} from './native-postgres.js';
export { natsUsers, type NatsUsers } from './nats-users.js';
export { startNats, type TestNats } from './start-nats.js';
export { startNatsCluster, type NatsNode, type TestNatsCluster } from './start-nats-cluster.js';
export { postgresTemplate, startPostgres, type TestPostgres } from './start-postgres.js';
export { cleanEnvironment, startService, type TestService } from './start-service.js';
export { allServices, startStack, type TestStack, type TestStackOptions } from './start-stack.js';
export { createTemporaryDirectory } from './temporary-directory.js';
