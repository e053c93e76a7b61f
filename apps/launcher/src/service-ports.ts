import { freePort, isPortFree, services, type ServiceName } from '#local-stack';
import type { LauncherEnvironment } from './environment.js';

/** A port that a service needs belongs to another program. */
export class PortInUseError extends Error {
  override readonly name = 'PortInUseError';
}

/** The address to reach a server on that listens on `host`: the unspecified address is no destination. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** The address that a service listens on: the gateway is the way in, and the others are for this machine alone. */
export function hostOf(
  name: string,
  { HOST, SERVICES_HOST }: Pick<LauncherEnvironment, 'HOST' | 'SERVICES_HOST'>,
) {
  return name === 'gateway' ? HOST : SERVICES_HOST;
}

/** Two services on one port, which neither of them could know. */
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
 * The port of each service, checked to be free; 0 becomes a random one that restarts keep. Errors: PortInUseError that names
 * every service whose port is taken.
 */
export async function claimPorts(environment: LauncherEnvironment): Promise<Record<ServiceName, number>> {
  refuseDuplicates(environment);
  const ports: Partial<Record<ServiceName, number>> = {};
  const taken: string[] = [];
  for (const { name, portVariable } of services) {
    const wanted = environment[portVariable];
    if (wanted !== 0 && !(await isPortFree(wanted, hostOf(name, environment))))
      taken.push(`port ${wanted} (${name}) is in use: stop what listens there, or set ${portVariable}.`);
    ports[name] = wanted === 0 ? await freePort(hostOf(name, environment)) : wanted;
  }
  if (taken.length > 0) throw new PortInUseError(taken.join('\n'));
  return ports as Record<ServiceName, number>;
}
