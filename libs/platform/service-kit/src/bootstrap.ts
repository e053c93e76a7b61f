import { workUnderWay } from '#platform/foundation';
import { MegaNestError, type ServiceHealth } from '#platform/contracts';
import type { DynamicModule, InjectionToken, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { CustomTransportStrategy } from '@nestjs/microservices';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino, type Logger } from 'pino';
import { Metrics } from './metrics/metrics.js';
import { EnvironmentError, type BaseEnvironment } from './config/environment.js';
import { isLoopback } from './config/nats-access.js';
import { Drain } from './drain.js';
import { Admission } from './http/admission.js';
import { HealthRegistry } from './health/health.registry.js';
import { listenWhileStarting } from './health/health.controller.js';
import { HttpErrorFilter, sendError } from './http/error.filter.js';
import { createHttpAdapter } from './http/http-adapter.js';
import { assertMayAsk, needsKeys } from './keys/key-ring.js';
import { shortestKey } from './keys/api-keys.js';
import { createLogger, NestLogger } from './logger.js';
import { startWatchdog } from './watchdog.js';
import type { ServiceIdentity } from './service-identity.js';

/** Maximum time to close connections after the work has ended. */
const closeLimitMs = 5_000;

export interface ServiceOptions {
  identity: ServiceIdentity;
  environment: BaseEnvironment;
  /** 0 picks a free port; the log line `listening` says which. */
  port: number;
  module: Type | DynamicModule;
  /** Injection token of the transport that the RPC handlers listen on. */
  transport?: InjectionToken<CustomTransportStrategy>;
  /** The service may download a model first, and answers probes in the meantime. */
  loadsModel?: boolean;
  /** Called before the service listens, e.g. to register Fastify plugins. */
  configure?: (app: NestFastifyApplication) => Promise<void> | void;
}

/** Starts a service: HTTP and RPC over one Nest app. It stops on SIGTERM and SIGINT. */
export async function startService(options: ServiceOptions): Promise<NestFastifyApplication> {
  const { identity, environment } = options;
  assertSafeAddress(environment);
  assertSafeOrigins(environment);
  const logger = createLogger(identity.service, environment.LOG_LEVEL);
  const stopTracing = await traceTo(environment, identity);
  const adapter = createHttpAdapter(environment, logger);
  const isOpen = !needsKeys(environment);
  const place = { identity, host: environment.HOST, port: options.port, isOpen };
  const stopWaiting = options.loadsModel ? await listenWhileStarting(place) : undefined;
  const app = await NestFactory.create<NestFastifyApplication>(options.module, adapter, {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new HttpErrorFilter(identity, logger));
  const drain = app.get(Drain);
  drain.guard(app.getHttpAdapter().getInstance());
  app.get(Admission).guard(app.getHttpAdapter().getInstance(), {
    service: identity.service,
    maxRequests: environment.REQUESTS_LIMIT,
    maxBytes: environment.BODIES_LIMIT_BYTES,
    bodyLimit: environment.BODY_LIMIT_BYTES,
  });
  if (identity.service !== 'gateway') refuseKeysOfModels(app);
  app.getHttpAdapter().getInstance().addHook('onClose', stopTracing);
  await options.configure?.(app);
  if (options.transport) {
    const strategy = app.get<DrainingTransport>(options.transport);
    app.connectMicroservice({ strategy });
    drain.onBegin((over) => strategy.drain?.(over));
    strategy.showLoad?.(() => app.get(Metrics).watched());
    strategy.showHealth?.(() => app.get(HealthRegistry).report());
    strategy.showStatistics?.(() => app.get(Metrics).digests());
  }
  const stop = stopper(app, drain, environment);
  process.once('SIGTERM', stop).once('SIGINT', stop);
  await app.startAllMicroservices();
  await stopWaiting?.();
  await app.listen(options.port, environment.HOST);
  logger.info({ url: await app.getUrl() }, 'listening');
  stopWithParent(stop, logger);
  startWatchdog(environment.HANG_LIMIT_MS, workUnderWay);
  return app;
}

/**
 * Runs a service's main function; a failure is one line and exit code 1. The line is JSON, so that a log keeps the
 * stack and a console shows the message alone; wrong settings are plain text.
 */
export async function runMain(start: () => Promise<unknown>): Promise<void> {
  try {
    await start();
  } catch (error) {
    if (error instanceof EnvironmentError) process.stderr.write(`${error.message}\n`);
    else reportFailure(error);
    process.exit(1);
  }
}

/** Writes synchronously, because the process ends next. */
function reportFailure(error: unknown): void {
  const destination = pino.destination({ fd: process.stderr.fd, sync: true });
  pino({ formatters: { level: (level) => ({ level }) } }, destination).fatal(
    { err: error },
    'the service cannot start',
  );
}

/** Loads OpenTelemetry only if a collector is configured. */
async function traceTo(
  environment: BaseEnvironment,
  identity: ServiceIdentity,
): Promise<() => Promise<void>> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_METRICS_EXPORTER: exporter } = environment;
  if (exporter === 'otlp' && !endpoint)
    throw new EnvironmentError('OTEL_METRICS_EXPORTER: otlp needs OTEL_EXPORTER_OTLP_ENDPOINT.');
  if (!endpoint) return async () => undefined;
  const { startTracing } = await import('./tracing/start-tracing.js');
  const metricsEveryMs = exporter === 'otlp' ? environment.OTEL_METRIC_EXPORT_INTERVAL : undefined;
  return startTracing(identity, endpoint, { metricsEveryMs });
}

/** Without keys any page on the internet could drive the service through its visitor's browser. */
function assertSafeOrigins(environment: BaseEnvironment): void {
  if (!environment.ALLOWED_ORIGINS.includes('*') || needsKeys(environment)) return;
  throw new EnvironmentError(
    'ALLOWED_ORIGINS: * lets the pages of every origin in, which needs API_KEYS. List the origins, or set API_KEYS.',
  );
}

/** Without keys only the loopback interface is open, unless the user says that the network is trusted. */
function assertSafeAddress(environment: BaseEnvironment): void {
  const { API_KEYS, MEGANEST_ALLOW_OPEN } = environment;
  const host = environment.PUBLISHED_HOST ?? environment.HOST;
  if (isLoopback(host) || MEGANEST_ALLOW_OPEN) return;
  if (API_KEYS.some((key) => key.length < shortestKey))
    throw new EnvironmentError(
      `API_KEYS: a key has fewer than ${shortestKey} characters, which can be guessed. HOST=${host} needs longer ones.`,
    );
  if (needsKeys(environment)) return;
  throw new EnvironmentError(
    `HOST: refusing to listen on ${host} without API_KEYS. Set API_KEYS, or MEGANEST_ALLOW_OPEN=true on a trusted network.`,
  );
}

/** Refuses keys that are limited to models: only the gateway checks models, not the services that it calls. */
function refuseKeysOfModels(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      try {
        assertMayAsk({ caller: request.meganestCaller });
        done();
      } catch (error) {
        sendError(reply, MegaNestError.from(error, 'http'));
      }
    });
}

/** A transport that can stop taking calls before it is closed. */
interface DrainingTransport extends CustomTransportStrategy {
  drain?(over: AbortSignal): Promise<void>;
  /** Shows the load of the service in discovery. */
  showLoad?(read: () => Promise<Load>): void;
  showHealth?(read: () => Promise<ServiceHealth>): void;
  /** Shows the measurements of the instance, for callers that ask all instances. */
  showStatistics?(read: () => ReturnType<Metrics['digests']>): void;
}

type Load = Awaited<ReturnType<Metrics['watched']>>;

/** Ends the process after its work; at a second signal, at once. */
function stopper(app: NestFastifyApplication, drain: Drain, environment: BaseEnvironment): () => void {
  const { SHUTDOWN_DELAY_MS: delayMs, SHUTDOWN_GRACE_MS: graceMs } = environment;
  const stop = async () => {
    await drain.run({ delayMs, graceMs });
    // Remaining connections are cut off.
    const limit = setTimeout(() => process.exit(1), closeLimitMs);
    await app.close().finally(() => clearTimeout(limit));
  };
  let stopping = false;
  return () => {
    if (stopping) return;
    stopping = true;
    void stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
}

/** Stops the service when its parent process dies, even by kill -9, if the parent opened an IPC channel. */
function stopWithParent(stop: () => void, logger: Logger): void {
  process.once('disconnect', () => {
    logger.warn('the parent process is gone; stopping');
    stop();
  });
}
