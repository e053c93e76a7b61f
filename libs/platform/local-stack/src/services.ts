/** Options of a service that differ from the defaults. */
interface ServiceOptions {
  /** Path that answers 200 when the service is ready. */
  readyPath?: string;
  /** Name in the health report (from OPEA), if it differs from the folder. */
  reportsAs?: string;
  /** Whether the service needs Postgres. It then starts after Postgres; other services need NATS only. */
  needsDatabase?: boolean;
}

/** All services of MegaNest in the order of lists. The gateway is stopped first. */
export const services = [
  service('embedding', 6000),
  service('retrieval', 7000, { needsDatabase: true, reportsAs: 'retriever' }),
  service('reranking', 8000),
  service('llm', 9000),
  service('dataprep', 6007, { needsDatabase: true }),
  service('guardrail', 9090),
  service('asr', 9099),
  service('tts', 9088),
  service('gateway', 8888, { needsDatabase: true, readyPath: '/v1/health_check' }),
] as const;

/** Description of a service of `apps/` for the launcher. */
export type ServiceDescription = (typeof services)[number];
/** Name of a service: its folder in `apps/`, its program in `dist/` and its name in NATS service discovery. */
export type ServiceName = ServiceDescription['name'];
/** Name of the variable for the port of a service. */
export type PortVariable = ReturnType<typeof portVariable<ServiceName>>;

function service<const Name extends string>(name: Name, defaultPort: number, options: ServiceOptions = {}) {
  const { readyPath = '/ready', reportsAs = name, needsDatabase = false } = options;
  return { name, defaultPort, portVariable: portVariable(name), readyPath, reportsAs, needsDatabase };
}

/** Name of the variable for the port of a service: `EMBEDDING_PORT`. */
export function portVariable<Name extends string>(name: Name): `${Uppercase<Name>}_PORT` {
  return `${name.toUpperCase() as Uppercase<Name>}_PORT`;
}
