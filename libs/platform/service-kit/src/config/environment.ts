import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createLogger } from '../logger.js';
import { natsEnvironmentShape } from './nats-access.js';
import { booleanSchema, bytes, count, milliseconds, EnvironmentError } from './variables.js';

export { booleanSchema, EnvironmentError };

/** An empty variable counts as unset: compose files and shells write unset variables as empty. */
function dropEmpty(variables: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
    ),
  );
}

/**
 * Secrets that may be in a file, as in containers: `NATS_PASSWORD_FILE` is the path of the file with `NATS_PASSWORD`.
 */
const secretsInFiles = ['NATS_PASSWORD', 'DATABASE_URL'] as const;

/** A variable takes precedence over its file. Errors: EnvironmentError for a file that cannot be read. */
function withSecretsOfFiles(variables: Record<string, string>): Record<string, string> {
  const result = { ...variables };
  for (const name of secretsInFiles) {
    const file = variables[`${name}_FILE`];
    if (file === undefined || variables[name] !== undefined) continue;
    try {
      result[name] = readFileSync(file, 'utf8').trim();
    } catch (cause) {
      throw new EnvironmentError(`${name}_FILE: ${file} cannot be read.`, { cause });
    }
  }
  return result;
}

export const portSchema = count(0, 65_535);

const commaList = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

/** As browsers send them: a scheme, a host and a port where it is not the scheme's own; no path. */
const originPattern = /^(\*|[a-z][a-z0-9+.-]*:\/\/[^/\s?#@*]+)$/;
const originList = commaList.pipe(
  z.array(
    z.string().toLowerCase().regex(originPattern, 'Expected origins such as https://chat.example.org, or *'),
  ),
);
const hostList = commaList.pipe(
  z.array(
    z
      .string()
      .toLowerCase()
      .regex(/^[^\s/:*@?#]+$/, 'Expected names without port such as ai.example.org'),
  ),
);

/** The variables that every service reads. Each app extends it with its own. */
export const baseEnvironmentSchema = z.object({
  HOST: z.string().default('127.0.0.1'),
  /** Address on which the port of this container is published; it decides whether keys are needed, in place of HOST. */
  PUBLISHED_HOST: z.string().optional(),
  ...natsEnvironmentShape,
  MEGANEST_DATA_DIR: z.string().default('.data'),
  MEGANEST_PROFILE: z.string().default('bundled'),
  /** A mirror of the Hugging Face hub, and the token for its gated models. */
  HF_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  HF_TOKEN: z.string().optional(),
  /** Folders of the hub's own clients: if one is set, downloads are shared with these clients. */
  HF_HOME: z.string().optional(),
  HF_HUB_CACHE: z.string().optional(),
  DEVICE: z.enum(['auto', 'cpu', 'cuda', 'webgpu']).default('auto'),
  API_KEYS: commaList
    .refine((keys) => keys.length > 0, 'Expected at least one key; unset it for a service without keys')
    .default([]),
  /** Named keys with scopes, limits and expiry; read again when it changes. */
  API_KEYS_FILE: z.string().optional(),
  /** Origins whose web pages may use the service, in addition to its own; `*` is every origin. */
  ALLOWED_ORIGINS: originList.default([]),
  /** Names under which a service without keys answers, in addition to localhost and addresses. */
  ALLOWED_HOSTS: hostList.default([]),
  /** Lets a service listen on a public address without keys, e.g. inside a container network. */
  MEGANEST_ALLOW_OPEN: booleanSchema.default(false),
  REQUEST_TIMEOUT_MS: milliseconds(100).default(120_000),
  /** Maximum time to receive a request with its body; 0: unlimited. */
  RECEIVE_TIMEOUT_MS: milliseconds(0).default(600_000),
  /** Time for which a stopping process still takes requests while /ready answers 503. */
  SHUTDOWN_DELAY_MS: milliseconds(0, 3_600_000).default(0),
  /** After that, the time for running work to end. */
  SHUTDOWN_GRACE_MS: milliseconds(0, 3_600_000).default(30_000),
  /** Maximum duration of a streamed answer. */
  STREAM_TIMEOUT_MS: milliseconds(100).default(7_200_000),
  /** A process is ended if its event loop or a model's thread is blocked for this time; 0: never. */
  HANG_LIMIT_MS: z.union([z.literal('0').transform(() => 0), milliseconds(1_000)]).default(60_000),
  BODY_LIMIT_BYTES: bytes('json').default(10 * 1024 * 1024),
  /**
   * Maximum concurrent requests of a process, and bytes of their bodies; one client gets half of each; 0: unlimited.
   */
  REQUESTS_LIMIT: count(0).default(4_096),
  BODIES_LIMIT_BYTES: bytes('held', 0).default(512 * 1024 * 1024),
  /** OpenTelemetry collector for spans over HTTP, e.g. http://127.0.0.1:4318. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** `otlp` sends metrics of generations there, too. */
  OTEL_METRICS_EXPORTER: z.enum(['none', 'otlp']).default('none'),
  OTEL_METRIC_EXPORT_INTERVAL: milliseconds(100).default(60_000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});
export type BaseEnvironment = z.infer<typeof baseEnvironmentSchema>;

/** The variables of services with a database: `PG_CONNECTION_STRING` is OPEA's name for `DATABASE_URL`. */
export const databaseEnvironmentSchema = z.object({
  DATABASE_URL: z.string().optional(),
  /** A file that holds DATABASE_URL. */
  DATABASE_URL_FILE: z.string().optional(),
  PG_CONNECTION_STRING: z.string().optional(),
  /** Maximum connections of one process to Postgres; default: 8 for a gateway, 4 for other services. */
  DATABASE_POOL_SIZE: count(1, 1_000).optional(),
});

/** The connection string of either name. Errors: names the missing variable. */
export function databaseUrl(environment: z.infer<typeof databaseEnvironmentSchema>): string {
  const url = environment.DATABASE_URL ?? environment.PG_CONNECTION_STRING;
  if (!url) throw new EnvironmentError('DATABASE_URL is missing: set it to the Postgres connection string.');
  return url;
}

/** Parses the environment once, at boot; the result is frozen. */
export function readEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  variables: Record<string, string | undefined> = process.env,
): Readonly<z.output<Schema>> {
  const result = schema.safeParse(withSecretsOfFiles(dropEmpty(variables)));
  if (result.success) return Object.freeze(result.data);
  const lines = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new EnvironmentError(`The environment is not valid.\n  ${lines.join('\n  ')}`);
}

/** Default number of connections of a process. */
const usualConnections = 4;

/** Options of a service's connection to Postgres; a broken connection is logged. Errors: names the missing variable. */
export function databaseOptions(
  service: string,
  environment: BaseEnvironment & z.infer<typeof databaseEnvironmentSchema>,
) {
  const logger = createLogger(service, environment.LOG_LEVEL);
  return {
    connectionString: databaseUrl(environment),
    maxConnections: environment.DATABASE_POOL_SIZE ?? usualConnections,
    onConnectionLost: (error: Error) =>
      logger.warn({ detail: error.message }, 'a connection to postgres broke'),
  };
}
