/** How a service differs from the usual one. */
interface ServiceOptions {
  /** Answers 200 once the service can work. */
  readyPath?: string;
  /** Its name in its health report, OPEA's, where that is not the folder's. */
  reportsAs?: string;
  /** Started once Postgres serves; the others need NATS only. */
  needsDatabase?: boolean;
}

/** The services of a whole MegaNest, in the order in which they are listed; the gateway is stopped first. */
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

/** A service of `apps/` as the launcher sees it. */
export type ServiceDescription = (typeof services)[number];
/** Folder below `apps/`, program in `dist/` and name in NATS's service discovery. */
export type ServiceName = ServiceDescription['name'];
/** Sets the port of a service. */
export type PortVariable = ReturnType<typeof portVariable<ServiceName>>;

function service<const Name extends string>(name: Name, defaultPort: number, options: ServiceOptions = {}) {
  const { readyPath = '/ready', reportsAs = name, needsDatabase = false } = options;
  return { name, defaultPort, portVariable: portVariable(name), readyPath, reportsAs, needsDatabase };
}

/** The variable that sets a service's port: `EMBEDDING_PORT`. */
export function portVariable<Name extends string>(name: Name): `${Uppercase<Name>}_PORT` {
  return `${name.toUpperCase() as Uppercase<Name>}_PORT`;
}
