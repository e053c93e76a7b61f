import { freePort, isPortFree, services, type ServiceName } from '#platform/local-stack';
import type { LauncherEnvironment } from './environment.js';

/** A port that a service needs belongs to another program. */
export class PortInUseError extends Error {
  override readonly name = 'PortInUseError';
}

/** Address for connections to a server that listens on `host`. The unspecified address is not a valid destination. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** Listening address of a service. Only the gateway listens on HOST. */
export function hostOf(
  name: string,
  { HOST, SERVICES_HOST }: Pick<LauncherEnvironment, 'HOST' | 'SERVICES_HOST'>,
) {
  return name === 'gateway' ? HOST : SERVICES_HOST;
}

/** Refuses two services with the same port. Neither service could detect this itself. */
function refuseDuplicates(environment: LauncherEnvironment): void {
  const owners = new Map<number, string>();
  for (const { name, portVariable } of services) {
    const port = environment[portVariable];
    const owner = owners.get(port);
    if (owner !== undefined && port !== 0)
      throw new PortInUseError(`${owner} and ${name} both have port ${port}; change ${portVariable}.`);
    owners.set(port, name);
  }
}

/**
 * Checks that the port of each service is free. Port 0 becomes a random port, which a restart keeps. Errors:
 * PortInUseError with every service whose port is in use.
 */
export async function claimPorts(environment: LauncherEnvironment): Promise<Record<ServiceName, number>> {
  refuseDuplicates(environment);
  const ports: Partial<Record<ServiceName, number>> = {};
  const taken: string[] = [];
  for (const { name, portVariable } of services) {
    const wanted = environment[portVariable];
    if (wanted !== 0 && !(await isPortFree(wanted, hostOf(name, environment))))
      taken.push(
        `port ${wanted} (${name}) is in use: stop the program that uses it, or set ${portVariable}.`,
      );
    ports[name] = wanted === 0 ? await freePort(hostOf(name, environment)) : wanted;
  }
  if (taken.length > 0) throw new PortInUseError(taken.join('\n'));
  return ports as Record<ServiceName, number>;
}
