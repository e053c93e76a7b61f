import { isPortFree, services, type ServiceDescription } from '#platform/local-stack';
import { version } from '#platform/service-kit';
import { request } from 'undici';
import { z } from 'zod';
import type { LauncherEnvironment } from '../environment.js';
import { hostOf, reachableHost } from '../service-ports.js';
import { checkClock, fail, ok, warn, type Finding } from './finding.js';

const timeoutMs = 5_000;

const healthSchema = z.looseObject({
  'Service Title': z.string(),
  'Service Version': z.string(),
  dependencies: z.array(
    z.looseObject({ name: z.string(), healthy: z.boolean(), detail: z.string().optional() }),
  ),
  warnings: z.array(z.string()).default([]),
});

export interface ServicesReport {
  findings: Finding[];
  /** Names of the services that answer. */
  running: Set<string>;
}

/** Checks the port of each service: it is free, belongs to a healthy service, or belongs to another program. */
export async function checkServices(environment: LauncherEnvironment): Promise<ServicesReport> {
  const running = new Set<string>();
  const reports = await Promise.all(
    services.map(async (service) => {
      const findings = await checkService(service, environment);
      if (findings === undefined) return [];
      if (findings.every(({ check }) => check !== 'ports')) running.add(service.name);
      return findings;
    }),
  );
  const findings = withoutRepeated(reports.flat());
  if (running.size === 0 && findings.length === 0) findings.push(ok('ports', 'all free; nothing is running'));
  else {
    const stopped = services
      .filter(({ name }) => running.size > 0 && !running.has(name))
      .map(({ name }) => name);
    const taken = new Set(
      findings.filter(({ check }) => check === 'ports').map(({ message }) => message.split(' ')[0]),
    );
    const missing = stopped.filter((name) => !taken.has(name));
    if (missing.length > 0)
      findings.push(warn('services', `not running: ${missing.join(', ')}`, 'npm start starts all of them'));
  }
  return { findings, running };
}

/** Findings about a service; undefined if its port is free. */
async function checkService(
  { name, portVariable, reportsAs }: ServiceDescription,
  environment: LauncherEnvironment,
): Promise<Finding[] | undefined> {
  const port = environment[portVariable];
  const host = hostOf(name, environment);
  if (port === 0 || (await isPortFree(port, host))) return undefined;
  const url = `http://${reachableHost(host)}:${port}/v1/health_check`;
  const [key] = environment.API_KEYS;
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  // Not by `fetch`: it refuses port 6000, which is the embedding service's.
  const answer = await request(url, { headers, signal: AbortSignal.timeout(timeoutMs) }).catch(
    () => undefined,
  );
  const health = healthSchema.safeParse(await answer?.body.json().catch(() => undefined));
  if (!health.success || !health.data['Service Title'].endsWith(`@${reportsAs}`)) {
    const fix = `stop that program, or set ${portVariable}`;
    return [fail('ports', `${name} needs port ${port}, which another program has`, fix)];
  }
  const { date } = answer?.headers ?? {};
  const skewMs = typeof date === 'string' ? Math.abs(Date.parse(date) - Date.now()) : 0;
  return [...describeHealth(name, health.data), ...checkClock(name, skewMs)];
}

/** The gateway repeats the warnings of the services. */
function withoutRepeated(findings: readonly Finding[]): Finding[] {
  const warnings = new Map(
    findings.filter(({ check }) => check === 'warnings').map((one) => [one.message, one]),
  );
  return [...findings.filter(({ check }) => check !== 'warnings'), ...warnings.values()];
}

function describeHealth(name: string, health: z.output<typeof healthSchema>): Finding[] {
  const findings = health.dependencies
    .filter(({ healthy }) => !healthy)
    .map((dependency) =>
      fail(name, `${dependency.name}: ${dependency.detail ?? 'not healthy'}`, `see the log of ${name}`),
    );
  if (health['Service Version'] !== version)
    findings.push(warn(name, `is version ${health['Service Version']}, this is ${version}`, 'restart it'));
  const warnings = health.warnings.map((text) => warn('warnings', text, 'docs/operations.md describes it'));
  return [...(findings.length > 0 ? findings : [ok(name, 'healthy')]), ...warnings];
}
