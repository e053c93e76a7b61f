import { join } from 'node:path';
import {
  acquireFileLock,
  defaultRestartPolicy,
  liveOverHttp,
  LockHeldError,
  nodeProgram,
  programVariables,
  services,
  superviseProcess,
  waitForHttp,
  type FileLock,
  type ServiceDescription,
  type ServiceName,
  type SupervisedProcess,
  type SupervisionEvent,
} from '#platform/local-stack';
import { projectRoot } from '#platform/foundation';
import { modelRoles, type LauncherEnvironment } from './environment.js';
import { ProcessRegister } from './process-register.js';
import { provideNats, providePostgres, type ProvidedServer } from './provide-servers.js';
import { reportEvent } from './summary.js';
import { claimPorts, hostOf, reachableHost } from './service-ports.js';
import { createLineSink } from './service-log.js';

/** Margin between the end of a service's own grace period and SIGKILL. */
const marginMs = 500;
/** Timeouts of a start. A model from the hub must be downloaded first. */
const startTimeoutMs = { bundled: 120_000, other: 3_600_000 };

function usesBundledModels(environment: LauncherEnvironment): boolean {
  const named = Object.values(modelRoles).map(({ model }) => environment[model]);
  const isNamed = [...named, environment.GUARDRAIL_MODEL_ID].some((model) => model !== undefined);
  return environment.MEGANEST_PROFILE === 'bundled' && !isNamed;
}

/** Runs everything of `npm start`: starts it in order, restarts a child that dies, and stops it in reverse order. */
export class Launcher {
  private readonly servers: Promise<ProvidedServer>[] = [];
  private readonly services: SupervisedProcess[] = [];
  private readonly addresses = new Map<string, string>();
  private readonly register: ProcessRegister;
  private readonly stopping = new AbortController();
  private lock: FileLock | undefined;
  private stopped: Promise<void> | undefined;
  /** False during the start: a child that dies then fails the start, and its end is not reported separately. */
  private ready = false;

  constructor(
    private readonly environment: Readonly<LauncherEnvironment>,
    private readonly variables: NodeJS.ProcessEnv,
  ) {
    this.register = new ProcessRegister(join(environment.MEGANEST_DATA_DIR, 'processes.json'));
  }

  /** Names and URLs of the servers, then of the services. */
  get servedAddresses(): readonly (readonly [name: string, url: string])[] {
    const names = ['nats', 'postgres', ...services.map(({ name }) => name)];
    return names.flatMap((name) => {
      const url = this.addresses.get(name);
      return url === undefined ? [] : [[name, url] as const];
    });
  }

  get logDirectory(): string {
    return join(this.environment.MEGANEST_DATA_DIR, 'logs');
  }

  private get logs() {
    const { LOG_FILE_LIMIT_BYTES: maxBytes, LOG_FILES_LIMIT: keep } = this.environment;
    return { directory: this.logDirectory, maxBytes, keep };
  }

  /** URL of a service. Errors: the service was not started. */
  urlOf(service: ServiceName): string {
    const url = this.addresses.get(service);
    if (url === undefined) throw new Error(`${service} was not started`);
    return url;
  }

  /**
   * Starts everything and resolves when it is ready. The gateway starts last, after `beforeGateway`, which may use
   * dataprep: a client that finds the gateway ready can ask about the documents. Errors: LockHeldError, PortInUseError,
   * UnreachableError, NatsServerNotFoundError, StartFailedError. After an error the caller must call `stop()`.
   */
  async start(beforeGateway: () => Promise<void> = async () => {}): Promise<void> {
    this.lock = await this.lockDataDirectory();
    const leftovers = await this.register.endLeftovers();
    if (leftovers.length > 0) console.log(`Ended processes of an earlier start: ${leftovers.join(', ')}`);
    const ports = await claimPorts(this.environment);
    const nats = this.provide('nats', provideNats);
    const postgres = this.provide('postgres', providePostgres);
    const start = async (service: ServiceDescription) => {
      const DATABASE_URL = service.needsDatabase ? (await postgres).url : undefined;
      await this.startService(service, ports[service.name], {
        ...(await nats).variables,
        NATS_URL: (await nats).url,
        DATABASE_URL,
      });
    };
    const started = new Map<string, Promise<void>>();
    for (const service of services) if (service.name !== 'gateway') started.set(service.name, start(service));
    const gateway = async () => {
      await Promise.all([started.get('embedding'), started.get('dataprep')]);
      await beforeGateway();
      await Promise.all(services.filter(({ name }) => name === 'gateway').map(start));
    };
    await Promise.all([...started.values(), gateway()]);
    this.ready = true;
  }

  /** Stops the services, then NATS and Postgres. Safe to call twice, and during the start. */
  stop(): Promise<void> {
    this.stopped ??= this.stopInOrder();
    return this.stopped;
  }

  private async stopInOrder(): Promise<void> {
    this.stopping.abort(new Error('It was stopped before it was ready.'));
    // Running requests of the gateway need the other services until they end.
    await Promise.all(
      this.services.filter(({ name }) => name === 'gateway').map((service) => service.stop()),
    );
    await Promise.all(this.services.map((service) => service.stop()));
    const servers = await Promise.allSettled(this.servers);
    const running = servers.flatMap((server) => (server.status === 'fulfilled' ? [server.value] : []));
    await Promise.all(running.map((server) => server.stop()));
    // Without the lock the directory and its register belong to another launcher.
    if (this.lock) this.register.clear();
    await this.lock?.release();
  }

  private async lockDataDirectory(): Promise<FileLock> {
    const directory = this.environment.MEGANEST_DATA_DIR;
    try {
      return await acquireFileLock(join(directory, 'launcher.lock'), { holder: 'another MegaNest' });
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error;
      const advice = 'Stop it, or set MEGANEST_DATA_DIR to another directory.';
      throw new Error(`Another MegaNest (process ${error.pid}) uses ${directory}. ${advice}`, {
        cause: error,
      });
    }
  }

  /** Provides a server: the user's own, or one that it starts. */
  private async provide(name: 'nats' | 'postgres', find: typeof provideNats): Promise<ProvidedServer> {
    this.stopping.signal.throwIfAborted();
    const server = find(this.environment, { signal: this.stopping.signal, ...this.supervision(name) });
    this.servers.push(server);
    this.addresses.set(name, (await server).url);
    return server;
  }

  private async startService(
    { name, portVariable, readyPath }: ServiceDescription,
    port: number,
    shared: NodeJS.ProcessEnv,
  ): Promise<void> {
    this.stopping.signal.throwIfAborted();
    const { MEGANEST_DATA_DIR, MEGASERVICES_DIR, SHUTDOWN_DELAY_MS, SHUTDOWN_GRACE_MS } = this.environment;
    const HOST = hostOf(name, this.environment);
    const own = {
      HOST,
      MEGANEST_DATA_DIR,
      MEGASERVICES_DIR,
      SHUTDOWN_GRACE_MS: String(SHUTDOWN_GRACE_MS),
      [portVariable]: String(port),
    };
    const url = `http://${reachableHost(HOST)}:${port}`;
    this.addresses.set(name, url);
    const service = superviseProcess({
      name,
      ...nodeProgram(name),
      cwd: projectRoot,
      env: { ...programVariables, ...this.variables, ...shared, ...own },
      readiness: (child) => waitForHttp(`${url}${readyPath}`, child.signal),
      liveness: liveOverHttp(`${url}/live`),
      startTimeoutMs: usesBundledModels(this.environment) ? startTimeoutMs.bundled : startTimeoutMs.other,
      stopGraceMs: SHUTDOWN_DELAY_MS + SHUTDOWN_GRACE_MS + marginMs,
      ...this.supervision(name),
    });
    this.services.push(service);
    await service.whenReady();
  }

  /** Options of all children: log, register, restarts, and the lines on the console. */
  private supervision(name: string) {
    return {
      restart: defaultRestartPolicy,
      onLine: createLineSink(this.logs, name),
      onEvent: (event: SupervisionEvent) => {
        if (event.type === 'started' && event.pid !== undefined && !this.register.add(name, event.pid))
          console.error(`${name.padEnd(11)}| processes.json cannot be written; is the disk full?`);
        if (!this.stopped && (this.ready || event.type === 'ready')) reportEvent(name, event);
      },
    };
  }
}
