export { freePort, portVariable, type ServiceName } from '#platform/local-stack';
export { startBalancer, type Balancer } from './balancer.js';
export { bundleProgram } from './bundle-program.js';
export { cacheDirectory, repositoryRoot, createTemporaryDirectory } from './directories.js';
export {
  isCluster,
  natsUsers,
  type NatsUsers,
  startNats,
  type TestNats,
  startNatsCluster,
  whenClusterFormed,
  type NatsNode,
  type TestNatsCluster,
} from './start-nats.js';
export {
  findProgramsWithVector,
  installedPrograms,
  nativePostgres,
  programsWithVector,
  startNativePostgres,
  type NativePostgres,
} from './native-postgres.js';
export { startDatabase, type TestDatabase } from './start-database.js';
export { postgresTemplate, startPostgres, type TestPostgres } from './start-postgres.js';
export { cleanEnvironment, startService, type TestService } from './start-service.js';
export { allServices, startStack, type TestStack, type TestStackOptions } from './start-stack.js';
