import { join } from 'node:path';
import {
  acquireFileLock,
  defaultRestartPolicy,
  findNatsServer,
  LockHeldError,
  nodeProgram,
  startEmbeddedPostgres,
  startNatsServer,
  superviseProcess,
  waitForHttp,
  type FileLock,
  type SupervisedProcess,
  type SupervisionEvent,
} from '#local-stack';
import { projectRoot } from '#service-kit';
import { checkReachable } from './connect-check.js';
import type { LauncherEnvironment } from './environment.js';
import { ProcessRegister } from './process-register.js';
import { reportEvent } from './report-event.js';
import { claimPorts, reachableHost } from './service-ports.js';
import { createLineSink } from './service-log.js';
import { services, type ServiceDescription, type ServiceName } from './services.js';

/** Services have this long to finish requests on stop, then the servers below them; 10 s in all, with a margin. */
const serviceGraceMs = 4_500;
/** A model from the hub is downloaded first. */
const startTimeoutMs = { bundled: 120_000, other: 3_600_000 };

/** Everything that `npm start` runs: started in order, restarted when it dies, stopped in reverse order. */
export class Launcher {
  private readonly running: SupervisedProcess[] = [];
  private readonly register: ProcessRegister;
  private readonly addresses: [name: string, url: string][] = [];
  private lock: FileLock | undefined;
  private stopped: Promise<void> | undefined;
  /** Before, a child that dies ends the start, and is no news beside its reason. */
  private ready = false;

  constructor(
    private readonly environment: Readonly<LauncherEnvironment>,
    private readonly variables: NodeJS.ProcessEnv,
  ) {
    this.register = new ProcessRegister(join(environment.MEGANEST_DATA_DIR, 'processes.json'));
  }

  /** Name and URL of everything that serves, in order of starting. */
  get servedAddresses(): readonly (readonly [name: string, url: string])[] {
    return this.addresses;
  }

  get logDirectory(): string {
    return join(this.environment.MEGANEST_DATA_DIR, 'logs');
  }

  /** URL of a service. Errors: it was not started. */
  urlOf(service: ServiceName): string {
    const url = this.addresses.find(([name]) => name === service)?.[1];
    if (url === undefined) throw new Error(`${service} was not started`);
    return url;
  }

  /**
   * Starts everything and resolves when all of it is ready. Errors: LockHeldError, PortInUseError, UnreachableError,
   * NatsServerNotFoundError, StartFailedError; then whatever had started must be stopped with `stop()`.
   */
  async start(): Promise<void> {
    this.lock = await this.lockDataDirectory();
    const leftovers = await this.register.endLeftovers();
    if (leftovers.length > 0)
      console.log(`Ended what an earlier start had left running: ${leftovers.join(', ')}`);
    const ports = await claimPorts(this.environment);
    const [natsUrl, databaseUrl] = await Promise.all([this.provideNats(), this.providePostgres()]);
    const shared = { NATS_URL: natsUrl, DATABASE_URL: databaseUrl };
    if (this.stopped) throw new Error('It was stopped before it was ready.');
    const started = services.map((service) => this.startService(service, ports, shared));
    await Promise.all(started.map((service) => service.whenReady()));
    this.ready = true;
  }

  /** Stops everything: the gateway, the other services, then NATS and Postgres. Safe to call twice. */
  stop(): Promise<void> {
    this.stopped ??= this.stopInOrder();
    return this.stopped;
  }

  private async stopInOrder(): Promise<void> {
    const names = new Set<string>(services.map(({ name }) => name));
    const ownServices = this.running.filter(({ name }) => names.has(name));
    const servers = this.running.filter(({ name }) => !names.has(name));
    await Promise.all(ownServices.map((service) => service.stop()));
    await Promise.all(servers.map((server) => server.stop()));
    // Without the lock the directory, and the register in it, are another launcher's.
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

  private async provideNats(): Promise<string> {
    const { NATS_URL, NATS_SERVER_BINARY, MEGANEST_DATA_DIR } = this.environment;
    if (NATS_URL !== undefined) {
      await checkReachable('NATS_URL', NATS_URL, 4222);
      return this.announce('nats', NATS_URL);
    }
    const { path: program } = await findNatsServer({
      explicitPath: NATS_SERVER_BINARY,
      cacheDirectory: join(projectRoot, 'node_modules', '.cache', 'meganest'),
      onProgress: (message) => console.log(message),
    });
    const nats = await startNatsServer({
      program,
      dataDirectory: join(MEGANEST_DATA_DIR, 'nats'),
      ...this.supervision('nats'),
    });
    this.running.push(nats.process);
    return this.announce('nats', nats.url);
  }

  private async providePostgres(): Promise<string> {
    const { DATABASE_URL, MEGANEST_DATA_DIR } = this.environment;
    if (DATABASE_URL !== undefined) {
      await checkReachable('DATABASE_URL', DATABASE_URL, 5432);
      return this.announce('postgres', DATABASE_URL);
    }
    const postgres = await startEmbeddedPostgres({
      dataDirectory: join(MEGANEST_DATA_DIR, 'postgres'),
      ...this.supervision('postgres'),
    });
    this.running.push(postgres.process);
    return this.announce('postgres', postgres.connectionString);
  }

  private startService(
    { name, portVariable, readyPath }: ServiceDescription,
    ports: Record<string, number>,
    shared: NodeJS.ProcessEnv,
  ): SupervisedProcess {
    const { HOST, MEGANEST_DATA_DIR, MEGASERVICES_DIR, MEGANEST_PROFILE } = this.environment;
    const port = String(ports[name]);
    const url = this.announce(name, `http://${reachableHost(HOST)}:${port}`);
    const service = superviseProcess({
      name,
      ...nodeProgram(`apps/${name}/src/main.js`),
      cwd: projectRoot,
      env: { ...this.variables, HOST, MEGANEST_DATA_DIR, MEGASERVICES_DIR, ...shared, [portVariable]: port },
      readiness: (child) => waitForHttp(`${url}${readyPath}`, child.signal),
      startTimeoutMs: MEGANEST_PROFILE === 'bundled' ? startTimeoutMs.bundled : startTimeoutMs.other,
      stopGraceMs: serviceGraceMs,
      ...this.supervision(name),
    });
    this.running.push(service);
    return service;
  }

  private announce(name: string, url: string): string {
    this.addresses.push([name, url]);
    return url;
  }

  /** What all children share: their log, their place in the register, their restarts and the lines about them. */
  private supervision(name: string) {
    return {
      restart: defaultRestartPolicy,
      onLine: createLineSink(this.logDirectory, name),
      onEvent: (event: SupervisionEvent) => {
        if (event.type === 'started' && event.pid !== undefined) this.register.add(name, event.pid);
        if (!this.stopped && (this.ready || event.type === 'ready')) reportEvent(name, event);
      },
    };
  }
}
