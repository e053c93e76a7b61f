export { runMain, startService, type ServiceOptions } from './bootstrap.js';
export { runService, type ServiceDefinition } from './run-service.js';
export { modelService, ServedModel, type Model, type ModelServiceDefinition } from './model-service.js';
export {
  baseEnvironmentSchema,
  booleanSchema,
  databaseEnvironmentSchema,
  EnvironmentError,
  portSchema,
  readEnvironment,
  type BaseEnvironment,
  databaseOptions,
} from './config/environment.js';
export { bytes, count, days, milliseconds, seconds } from './config/variables.js';
export { messagingOptions, natsAccess, natsEnvironmentShape } from './config/nats-access.js';
export {
  announceModel,
  chosenWeights,
  hubCacheOf,
  modelOptions,
  progressBar,
  weightsSchema,
} from './config/model-options.js';
export { loadProfile, type Profile } from './config/profile.js';
export { serviceIdentity, version, type ServiceIdentity } from './service-identity.js';
export { Admission, clientOf } from './http/admission.js';
export { OpenSockets } from './http/open-sockets.js';
export { Drain, stoppingError } from './drain.js';
export { dispatcherForEngines, refusalOfEngineUrl } from './engine-addresses.js';
export { fetchForUsers, refusalOfUrl } from './fetch-for-users.js';
export { guardedFetch, type FetchedPage, type GuardedFetchOptions } from './guarded-fetch.js';
export { HealthRegistry, type Dependency, type HealthCheck } from './health/health.registry.js';
export { errorEnvelope, noRoute, sendError } from './http/error.filter.js';
export { BodyBounds, contentOf, parseJsonBody, SchemaPipe, readFormParts } from './http/request-body.js';
export {
  Call,
  callOf,
  ignoredHeader,
  degradedHeaderName,
  ignoredHeaderName,
  Owner,
  probePaths,
  setDegraded,
  setIgnored,
  setSupport,
  withinDeadline,
  type HttpCall,
} from './http/http-call.js';
export { keepAlive, keepAliveMs, sendEventStream, type Frames } from './http/event-stream.js';
export { allScopes, assertMayAsk, ownerOf, type Caller, type Scope, needsKeys } from './keys/key-ring.js';
export { asCaller } from './keys/own-caller.js';
export { createLogger } from './logger.js';
export {
  GenerationMeasure,
  measureGeneration,
  Metrics,
  sumDigests,
  type LatencyStatistics,
  type Operation,
} from './metrics/metrics.js';
export {
  ApiDocument,
  buildDocument,
  type OpenApiDocument,
  type OpenApiPaths,
} from './openapi/build-document.js';
export {
  ApiOperation,
  HiddenRoute,
  routesOf,
  type OperationDeclaration,
  type Route,
} from './openapi/routes.js';
export { ServiceKitModule } from './service-kit.module.js';
