import type { DependencyHealth, ServiceHealth } from '#contracts';
import { version } from '../config/version.js';
import type { ServiceIdentity } from '../service-identity.js';

/** Throws, or says why it is not healthy, when the dependency does not work. Text on success is shown as detail. */
export type HealthCheck = (signal: AbortSignal) => Promise<string | void>;

const checkTimeoutMs = 2_000;

/** Asks a service's dependencies, all at once, each within two seconds. */
export class HealthRegistry {
  readonly #checks = new Map<string, HealthCheck>();
  readonly #startedAt = performance.now();

  constructor(private readonly identity: ServiceIdentity) {}

  register(name: string, check: HealthCheck): void {
    this.#checks.set(name, check);
  }

  async report(): Promise<ServiceHealth> {
    const dependencies = await Promise.all([...this.#checks].map(([name, check]) => runCheck(name, check)));
    return {
      service: this.identity.service,
      description: this.identity.description,
      healthy: dependencies.every(({ healthy }) => healthy),
      version,
      uptimeSeconds: Math.round((performance.now() - this.#startedAt) / 1000),
      dependencies,
    };
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
