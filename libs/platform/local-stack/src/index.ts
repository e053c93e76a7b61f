export {
  defaultRestartPolicy,
  nodeProgram,
  programVariables,
  StartFailedError,
  superviseProcess,
  whenReadyOrStopped,
  type RestartPolicy,
  type SupervisedProcess,
  type SupervisionEvent,
  type SupervisionOptions,
} from './processes/supervise.js';
export { freePort, isPortFree } from './ports.js';
export {
  findNatsServer,
  NatsServerNotFoundError,
  type FindNatsServerOptions,
  type FoundNatsServer,
  type NatsServerSource,
} from './nats/find-nats-server.js';
export { isNewEnough, oldestVersion } from './nats/official-release.js';
export { startNatsServer, type NatsServer, type NatsServerOptions } from './nats/start-nats-server.js';
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  databaseCopy,
  embeddedLock,
} from './postgres/start-embedded-postgres.js';
export type { ChildExit, OutputLine } from './processes/child.js';
export {
  acquireFileLock,
  identifyProcess,
  isRunning,
  LockHeldError,
  type FileLock,
  type FileLockOptions,
  type ProcessIdentity,
} from './processes/file-lock.js';
export {
  liveOverHttp,
  waitForHttp,
  waitForLine,
  waitForListeningUrl,
  type Readiness,
  type StartingProcess,
} from './processes/readiness.js';
export {
  portVariable,
  services,
  type PortVariable,
  type ServiceDescription,
  type ServiceName,
} from './services.js';
