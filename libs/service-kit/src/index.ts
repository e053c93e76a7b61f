export { runMain, startService, type ServiceOptions } from './bootstrap.js';
export {
  baseEnvironmentSchema,
  booleanSchema,
  databaseEnvironmentSchema,
  EnvironmentError,
  portSchema,
  readEnvironment,
  type BaseEnvironment,
} from './config/environment.js';
export { bytes, count, days, milliseconds, seconds } from './config/variables.js';
export { databaseOptions } from './config/database-options.js';
export { messagingOptions, natsAccess, natsEnvironmentShape, type NatsAccess } from './config/nats-access.js';
export { announceModel, hubCacheOf, modelOptions, progressBar } from './config/model-options.js';
export { loadProfile, type Profile } from './config/profile.js';
export { version } from './config/version.js';
export { Admission, clientOf } from './http/admission.js';
export { Drain, stoppingError } from './drain.js';
export { fetchForUsers, refusalOfUrl } from './fetch-for-users.js';
export { guardedFetch, type FetchedPage, type GuardedFetchOptions } from './guarded-fetch.js';
export { HealthRegistry, type HealthCheck } from './health/health.registry.js';
export { errorEnvelope, noRoute, sendError } from './http/error.filter.js';
export { parseJsonBody } from './http/json-body.js';
export { readFormParts } from './http/form-parts.js';
export { ignoredHeader, ignoredHeaderName, setDegraded, setIgnored } from './http/ignored-header.js';
export { sendEventStream, type Frames } from './http/event-stream.js';
export { Call, callOf, probePaths, type HttpCall } from './http/http-call.js';
export { withinDeadline } from './http/within-deadline.js';
export { SchemaPipe } from './http/schema.pipe.js';
export { assertMayAsk, ownerOf, type Caller, type Scope } from './keys/caller.js';
export { needsKeys } from './keys/key-ring.js';
export { createLogger } from './logger.js';
export { measureGeneration } from './metrics/measure-generation.js';
export { Metrics, type LatencyStatistics, type Operation } from './metrics/metrics.js';
export { ApiDocument } from './openapi/api-document.js';
export { buildDocument, type OpenApiDocument, type OpenApiPaths } from './openapi/build-document.js';
export { ApiOperation, HiddenRoute, type OperationDeclaration } from './openapi/api-operation.decorator.js';
export { routesOf, type Route } from './openapi/routes.js';
export { ServiceKitModule } from './service-kit.module.js';
export { serviceIdentity, type ServiceIdentity } from './service-identity.js';
