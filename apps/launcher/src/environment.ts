import { isAbsolute, join } from 'node:path';
import {
  baseEnvironmentSchema,
  booleanSchema,
  databaseEnvironmentSchema,
  EnvironmentError,
  portSchema,
  projectRoot,
  readEnvironment,
} from '#service-kit';
import { z } from 'zod';
import { services, type PortVariable } from './services.js';

const portsSchema = z.object(
  Object.fromEntries(
    services.map(({ portVariable, defaultPort }) => [portVariable, portSchema.default(defaultPort)]),
  ) as Record<PortVariable, z.ZodDefault<typeof portSchema>>,
);

const modelId = z.string().optional();
const endpoint = z.url().optional();

/** Everything that `npm start` understands; each service parses the part that is its own once more. */
export const launcherEnvironmentSchema = baseEnvironmentSchema
  .extend(portsSchema.shape)
  .extend(databaseEnvironmentSchema.shape)
  .extend({
    /** Unset: a nats-server of MegaNest's own. */
    NATS_URL: z.url({ protocol: /^(nats|tls|wss?)$/ }).optional(),
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
    PG_CONNECTION_STRING: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
    /** A nats-server program to use instead of one found or fetched. */
    NATS_SERVER_BINARY: z.string().optional(),
    /** Whether the first start ingests MegaNest's own documents. */
    MEGANEST_SAMPLE_DOCUMENTS: booleanSchema.default(true),
    /** Directory of the bundled models. */
    MEGANEST_MODELS_DIR: z.string().optional(),
    MEGASERVICES_DIR: z.string().default('megaservices'),
    EMBEDDING_MODEL_ID: modelId,
    RERANK_MODEL_ID: modelId,
    LLM_MODEL_ID: modelId,
    TEI_EMBEDDING_ENDPOINT: endpoint,
    TEI_RERANKING_ENDPOINT: endpoint,
    LLM_ENDPOINT: endpoint,
    /** The gateway's own; unset: its defaults. */
    DEFAULT_MEGASERVICE: z.string().optional(),
    UPLOAD_LIMIT_BYTES: z.coerce.number().int().optional(),
    RATE_LIMIT_PER_MINUTE: z.coerce.number().int().optional(),
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  });
export type LauncherEnvironment = z.infer<typeof launcherEnvironmentSchema>;

/** A misspelt variable would be silently without effect: those of MegaNest's own prefix are checked. */
function refuseUnknown(variables: NodeJS.ProcessEnv): void {
  const known = Object.keys(launcherEnvironmentSchema.shape);
  const unknown = Object.keys(variables).filter(
    (name) => name.startsWith('MEGANEST_') && !known.includes(name),
  );
  if (unknown.length === 0) return;
  const candidates = known.filter((name) => name.startsWith('MEGANEST_')).join(', ');
  throw new EnvironmentError(`${unknown.join(', ')}: unknown variable. Known are ${candidates}.`);
}

/** Relative paths mean the directory of the project, wherever the command was given. */
function fromProject(path: string): string {
  return isAbsolute(path) ? path : join(projectRoot, path);
}

/** Parses the launcher's environment. Errors: EnvironmentError that names the variable. */
export function readLauncherEnvironment(variables: NodeJS.ProcessEnv): Readonly<LauncherEnvironment> {
  refuseUnknown(variables);
  const environment = readEnvironment(launcherEnvironmentSchema, variables);
  return Object.freeze({
    ...environment,
    DATABASE_URL: environment.DATABASE_URL ?? environment.PG_CONNECTION_STRING,
    MEGANEST_DATA_DIR: fromProject(environment.MEGANEST_DATA_DIR),
    MEGASERVICES_DIR: fromProject(environment.MEGASERVICES_DIR),
  });
}
