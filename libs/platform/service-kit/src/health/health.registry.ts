import type { DependencyHealth, ModelDownload, ServiceHealth } from '#platform/contracts';
import { version, type ServiceIdentity } from '../service-identity.js';

/** Throws if the dependency does not work, with the reason. A returned text is shown as detail. */
export type HealthCheck = (signal: AbortSignal) => Promise<string | void>;

/** `required`: the service cannot work without it. Default: it is. */
export interface CheckOptions {
  required?: boolean | (() => boolean);
}

const checkTimeoutMs = 2_000;
/** Lifetime of a report, so that many requests lead to only one check. */
const reportLifeMs = 1_000;

/** A dependency and its check. */
export interface Dependency extends CheckOptions {
  name: string;
  check: HealthCheck;
}

/** Checks a service's dependencies concurrently, each within two seconds, at most once a second. */
export class HealthRegistry {
  readonly #dependencies = new Map<string, Dependency>();
  #listFurther: () => readonly Dependency[] = () => [];
  readonly #startedAt = performance.now();
  #report: Promise<ServiceHealth> | undefined;
  #listWarnings: (signal: AbortSignal) => Promise<string[]> = () => Promise.resolve([]);
  #listDownloads: () => Promise<ModelDownload[]> = () => Promise.resolve([]);

  /** `isStopping`: a stopping process is not ready. */
  constructor(
    private readonly identity: ServiceIdentity,
    private readonly isStopping: () => boolean = () => false,
    private readonly lifeMs = reportLifeMs,
  ) {}

  register(name: string, check: HealthCheck, options: CheckOptions = {}): void {
    this.#dependencies.set(name, { ...options, name, check });
  }

  /** Registers dependencies that change: `list` returns them for each report. */
  registerListed(list: () => readonly Dependency[]): void {
    this.#listFurther = list;
  }

  /** `list` returns problems for the operator. It is called after each check of the dependencies. */
  watchWarnings(list: (signal: AbortSignal) => Promise<string[]>): void {
    this.#listWarnings = list;
  }

  /** `list` returns the running downloads of models. */
  watchDownloads(list: () => Promise<ModelDownload[]>): void {
    this.#listDownloads = list;
  }

  downloads(): Promise<ModelDownload[]> {
    return this.#listDownloads();
  }

  /** Returns the health, at most a second old. */
  async report(): Promise<ServiceHealth> {
    this.#report ??= this.#ask();
    const report = await this.#report;
    return { ...report, ready: report.ready === true && !this.isStopping() };
  }

  async #askAll(): Promise<DependencyHealth[]> {
    const all = [...this.#dependencies.values(), ...this.#listFurther()];
    return Promise.all(
      all.map(async ({ name, check, required = true }) => {
        const isRequired = typeof required === 'function' ? required() : required;
        return { ...(await runCheck(name, check)), ...(!isRequired && { required: false }) };
      }),
    );
  }

  async #ask(): Promise<ServiceHealth> {
    const forget = () => setTimeout(() => (this.#report = undefined), this.lifeMs).unref();
    const [dependencies, warnings] = await this.#askForAll().finally(forget);
    return {
      service: this.identity.service,
      description: this.identity.description,
      healthy: dependencies.every(({ healthy }) => healthy),
      ready: dependencies.every(({ healthy, required }) => healthy || required === false),
      version,
      uptimeSeconds: Math.round((performance.now() - this.#startedAt) / 1000),
      dependencies,
      ...(warnings.length > 0 && { warnings }),
    };
  }

  async #askForAll(): Promise<[DependencyHealth[], string[]]> {
    const dependencies = await this.#askAll();
    const signal = AbortSignal.timeout(checkTimeoutMs);
    // A dependency that fails has an entry of its own.
    const warnings = await Promise.race([this.#listWarnings(signal), rejectOnAbort(signal)]).catch(() => []);
    return [dependencies, warnings];
  }
}

async function runCheck(name: string, check: HealthCheck): Promise<DependencyHealth> {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(checkTimeoutMs);
  const latencyMs = () => Math.round((performance.now() - startedAt) * 10) / 10;
  try {
    const detail = await Promise.race([check(signal), rejectOnAbort(signal)]);
    return { name, healthy: true, latencyMs: latencyMs(), ...(detail && { detail }) };
  } catch (error) {
    return {
      name,
      healthy: false,
      latencyMs: latencyMs(),
      detail: error instanceof Error ? error.message : String(error),
    };
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(new Error(`no answer within ${checkTimeoutMs} ms`));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
