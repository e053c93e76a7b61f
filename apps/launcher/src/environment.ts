import { services, type PortVariable } from '#platform/local-stack';
import { projectRoot } from '#platform/foundation';
import {
  baseEnvironmentSchema,
  booleanSchema,
  bytes,
  count,
  databaseEnvironmentSchema,
  EnvironmentError,
  natsAccess,
  natsEnvironmentShape,
  portSchema,
  readEnvironment,
} from '#platform/service-kit';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';

const portsSchema = z.object(
  Object.fromEntries(
    services.map(({ portVariable, defaultPort }) => [portVariable, portSchema.default(defaultPort)]),
  ) as Record<PortVariable, z.ZodDefault<typeof portSchema>>,
);

/** Variables that only one service reads and checks; listed here for `--print-config`. Unset: the service's default. */
const ownOfServices = [
  'DEFAULT_MEGASERVICE',
  'DEFAULT_MODEL',
  'MODEL_ALIASES',
  'MEGA_SERVICES_ONLY',
  'RATE_LIMIT_PER_MINUTE',
  'UPLOAD_LIMIT_BYTES',
  'UPLOAD_FILE_LIMIT_BYTES',
  'UPLOAD_FILES_LIMIT',
  'LINK_TIMEOUT_MS',
  'ALLOW_PRIVATE_LINKS',
  'JOB_ABANDONED_AFTER_MS',
  'ENGINES_ALLOW_PRIVATE',
  'ENGINES_DIR',
  'ENGINE_POLICY',
  'LLM_API_KEY',
  'LLM_MODALITIES',
  'LLM_CONTEXT_LENGTH',
  'LLM_PARAMETERS',
  'LLM_TOOLS',
  'LLM_SEARCH_QUERIES_TIMEOUT_MS',
  'LLM_GENERAL_KNOWLEDGE',
  'LLM_PREFIX_CACHE_BYTES',
  'LLM_KERNEL_BYTES',
  'LLM_WEIGHTS',
  'LLM_WEIGHTS_BLOCK',
  'EMBEDDING_WEIGHTS',
  'EMBEDDING_QUERY_PREFIX',
  'EMBEDDING_DOCUMENT_PREFIX',
  'RERANKING_WEIGHTS',
  'ASR_WEIGHTS',
  'READER_MODEL_ID',
  'TEI_API_KEY',
  'ASR_API_KEY',
  'TTS_API_KEY',
  'TTS_MODEL_ID',
  'TTS_VOICE',
  'TTS_WORKERS',
  'ASR_VAD_MODEL',
  'ASR_WORKERS',
  'ASR_WINDOWS',
  'ASR_BEAMS',
  'ASR_MAX_SECONDS',
  'AUDIO_LIMIT_BYTES',
  'LIVE_AUDIO_MAX_SECONDS',
  'LIVE_AUDIO_IDLE_MS',
  'LIVE_AUDIO_MAX_SOCKETS',
  'RESPONSES_TTL_DAYS',
  'RESPONSES_MAX_COUNT',
  'RESPONSES_LIMIT_BYTES',
  'CONVERSATIONS_LIMIT_BYTES',
  'CONVERSATIONS_TTL_DAYS',
  'DOCUMENTS_LIMIT_BYTES',
  'ORIGINALS_LIMIT_BYTES',
  'RECORDING_LIMIT_SECONDS',
  'RESPONSES_LEASE_MS',
  'RESPONSES_BACKGROUND_TIMEOUT_MS',
  'RESPONSES_KEEP_ALIVE_MS',
  'RESPONSES_ENCRYPTION_KEYS',
  'RESPONSES_IMAGE_INPUT',
  'UNSERVED_TOOLS',
  'WEB_SEARCH_URL',
  'WEB_SEARCH_KEY',
  'RESPONSES_MCP_TIMEOUT_MS',
  'RESPONSES_SOCKET_LIFETIME_MS',
  'RESPONSES_MAX_SOCKETS',
  'FILES_FILE_LIMIT_BYTES',
  'FILES_LIMIT_BYTES',
  'FILES_LIMIT_COUNT',
  'INDEXING_LEASE_MS',
] as const;
const ownSchema = z.object(
  Object.fromEntries(ownOfServices.map((name) => [name, z.string().optional()])) as Record<
    (typeof ownOfServices)[number],
    z.ZodOptional<z.ZodString>
  >,
);

const modelId = z.string().optional();
const endpoint = z.url().optional();
const engineSearchSchema = z.enum(['show', 'auto', 'off']).default('show');

/** All variables of `npm start`. Each service parses its own part again. */
export const launcherEnvironmentSchema = baseEnvironmentSchema
  .extend(portsSchema.shape)
  .extend(databaseEnvironmentSchema.shape)
  .extend(ownSchema.shape)
  .extend({
    /** Unset: MegaNest starts a nats-server. */
    NATS_URL: z.string().optional(),
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
    PG_CONNECTION_STRING: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
    /** Path of a nats-server program. Unset: the launcher finds or downloads one. */
    NATS_SERVER_BINARY: z.string().optional(),
    /** Listening address of the services other than the gateway. */
    SERVICES_HOST: z.string().default('127.0.0.1'),
    /** Shorter than in the services: a user at a terminal waits, and `npm start` must end within ten seconds. */
    SHUTDOWN_GRACE_MS: baseEnvironmentSchema.shape.SHUTDOWN_GRACE_MS.unwrap().default(4_000),
    /** Limit for the size of a service's log file, and number of older files to keep. */
    LOG_FILE_LIMIT_BYTES: bytes('stored', 4_096).default(10 * 1024 * 1024),
    LOG_FILES_LIMIT: count(0, 100).default(4),
    WEB_UI: booleanSchema.default(true),
    /** Whether the first start ingests MegaNest's own documents. */
    MEGANEST_SAMPLE_DOCUMENTS: booleanSchema.default(true),
    MEGASERVICES_DIR: z.string().default('megaservices'),
    GUARDRAIL_RULES: z.string().default('guardrails/default.yaml'),
    EMBEDDING_MODEL_ID: modelId,
    RERANK_MODEL_ID: modelId,
    LLM_MODEL_ID: modelId,
    ASR_MODEL_ID: modelId,
    GUARDRAIL_MODEL_ID: modelId,
    TEI_EMBEDDING_ENDPOINT: endpoint,
    TEI_RERANKING_ENDPOINT: endpoint,
    LLM_ENDPOINT: endpoint,
    /** An engine on this machine: `show` says which one there is, `auto` uses it, `off` does not look. */
    MEGANEST_ENGINE: engineSearchSchema,
    ASR_ENDPOINT: endpoint,
    TTS_ENDPOINT: endpoint,
    TEI_GUARDRAIL_ENDPOINT: endpoint,
  });
export type LauncherEnvironment = z.infer<typeof launcherEnvironmentSchema>;

/** The models of a profile: the variable for another model, and the variable for a remote engine. */
export const modelRoles = {
  embedding: { model: 'EMBEDDING_MODEL_ID', endpoint: 'TEI_EMBEDDING_ENDPOINT' },
  reranking: { model: 'RERANK_MODEL_ID', endpoint: 'TEI_RERANKING_ENDPOINT' },
  llm: { model: 'LLM_MODEL_ID', endpoint: 'LLM_ENDPOINT' },
  asr: { model: 'ASR_MODEL_ID', endpoint: 'ASR_ENDPOINT' },
} as const;

/** Resolves a relative path against the directory of the project, not the current directory. */
function fromProject(path: string): string {
  return isAbsolute(path) ? path : join(projectRoot, path);
}

/** Credentials need NATS_URL. The server that MegaNest starts has a new token at each start. */
function checkNatsVariables(environment: LauncherEnvironment): void {
  const names = Object.keys(natsEnvironmentShape).filter(
    (name) => name !== 'MEGANEST_ALLOW_OPEN' && !name.startsWith('NATS_BUCKET_'),
  );
  const given = names.filter((name) => environment[name as keyof LauncherEnvironment] !== undefined);
  if (environment.NATS_URL !== undefined) natsAccess(environment);
  else if (given.length > 0) throw new EnvironmentError(`${given.join(', ')}: set NATS_URL too.`);
}

/** Parses the launcher's environment. Errors: EnvironmentError that names the variable. */
export function readLauncherEnvironment(variables: NodeJS.ProcessEnv): Readonly<LauncherEnvironment> {
  refuseUnknown(variables, Object.keys(launcherEnvironmentSchema.shape));
  const environment = readEnvironment(launcherEnvironmentSchema, variables);
  checkNatsVariables(environment);
  return Object.freeze({
    ...environment,
    DATABASE_URL: environment.DATABASE_URL ?? environment.PG_CONNECTION_STRING,
    MEGANEST_DATA_DIR: fromProject(environment.MEGANEST_DATA_DIR),
    MEGASERVICES_DIR: fromProject(environment.MEGASERVICES_DIR),
    GUARDRAIL_RULES: fromProject(environment.GUARDRAIL_RULES),
  });
}

/** Shorter names are similar to too many other names. */
const minLength = 6;

/** Edit distance of two words: letters to insert, delete, replace or swap with their neighbor. */
function editDistance(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      line[column] = Math.min(
        rows[row - 1]![column]! + 1,
        line[column - 1]! + 1,
        rows[row - 1]![column - 1]! + (same ? 0 : 1),
        swapped ? rows[row - 2]![column - 2]! + 1 : Infinity,
      );
    }
    rows.push(line);
  }
  return rows[one.length]![other.length]!;
}

/** The known name with the smallest edit distance; undefined if the distance is greater than `most`. */
function nearestName(name: string, known: readonly string[], most: number): string | undefined {
  const candidates = known
    .filter((candidate) => Math.abs(candidate.length - name.length) <= most)
    .map((candidate) => ({ candidate, distance: editDistance(name.toUpperCase(), candidate) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((one, other) => one.distance - other.distance);
  return candidates[0]?.candidate;
}

/** Refuses unknown variables with the prefix of MegaNest. Errors: EnvironmentError with the nearest name of each. */
export function refuseUnknown(variables: NodeJS.ProcessEnv, known: readonly string[]): void {
  const own = known.filter((name) => name.startsWith('MEGANEST_'));
  const unknown = Object.keys(variables).filter(
    (name) => name.toUpperCase().startsWith('MEGANEST_') && !known.includes(name),
  );
  if (unknown.length === 0) return;
  const lines = unknown.map((name) => {
    const nearest = nearestName(name, own, Math.ceil(name.length / 3));
    const advice = nearest ? `Did you mean ${nearest}?` : `Known are ${own.join(', ')}.`;
    return `${name}: unknown variable. ${advice}`;
  });
  throw new EnvironmentError(lines.join('\n'));
}

/**
 * A warning for each variable whose name differs by one or two letters from a variable of MegaNest. It may belong to
 * another program, so that it is not refused.
 */
export function describeMisspelled(variables: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    if (!value || known.includes(name) || name.length < minLength) return [];
    const nearest = nearestName(name, known, name.length < 10 ? 1 : 2);
    if (!nearest || variables[nearest]) return [];
    return [`${name} is not a variable of MegaNest and has no effect. Did you mean ${nearest}?`];
  });
}
