export { nodeProgram, programVariables } from './processes/node-program.js';
export { freePort, isPortFree } from './ports.js';
export {
  findNatsServer,
  NatsServerNotFoundError,
  type FindNatsServerOptions,
  type FoundNatsServer,
  type NatsServerSource,
} from './nats/find-nats-server.js';
export { isNewEnough, oldestVersion } from './nats/nats-version.js';
export { startNatsServer, type NatsServer, type NatsServerOptions } from './nats/start-nats-server.js';
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './postgres/start-embedded-postgres.js';
export { type ChildExit } from './processes/child.js';
export {
  acquireFileLock,
  LockHeldError,
  type FileLock,
  type FileLockOptions,
} from './processes/file-lock.js';
export { liveOverHttp } from './processes/liveness.js';
export { type OutputLine } from './processes/lines.js';
export {
  waitForHttp,
  waitForLine,
  waitForListeningUrl,
  type Readiness,
  type StartingProcess,
} from './processes/readiness.js';
export {
  defaultRestartPolicy,
  StartFailedError,
  superviseProcess,
  whenReadyOrStopped,
  type RestartPolicy,
  type SupervisedProcess,
  type SupervisionEvent,
  type SupervisionOptions,
} from './processes/supervise.js';
export { identifyProcess, isRunning, type ProcessIdentity } from './processes/process-identity.js';
export { databaseCopy, embeddedLock } from './postgres/file-names.js';
