import { audioEnvironmentShape, audioLimits, audioLimitsOf, liveEnvironmentShape } from '#audio-api';
import { uploadEnvironmentSchema, uploadLimits, uploadLimitsOf } from '#dataprep-api';
import {
  baseEnvironmentSchema,
  booleanSchema,
  bytes,
  count,
  databaseEnvironmentSchema,
  days,
  milliseconds,
  portSchema,
} from '#service-kit';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { z } from 'zod';

/** What a model is asked for: the names of other vendors' models tell that much. */
export type ModelUse = 'answers' | 'vectors' | 'transcripts' | 'ranking';

/** Names that clients send by default, by what they ask for. */
const usualNames: readonly (readonly [ModelUse, RegExp])[] = [
  ['transcripts', /^(whisper-\d+|gpt-4o(-mini)?-transcribe.*)$/],
  ['vectors', /^text-embedding-/],
  ['answers', /^(gpt-(?!.*(transcribe|tts|realtime|audio|image))|chatgpt-|o\d|codex-)/],
];

interface ModelAliases {
  /** The usual names stand for the served model of their kind. */
  usual: boolean;
  names: ReadonlyMap<string, string>;
}

/** `MODEL_ALIASES`: `name=model`, and `usual` for the names that clients send by default. */
export const modelAliasesSchema = z
  .string()
  .default('')
  .transform((text, context): ModelAliases => {
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean);
    const names = new Map<string, string>();
    for (const entry of entries) {
      const [name = '', model = '', ...rest] = entry.split('=').map((part) => part.trim());
      if (entry === 'usual') continue;
      if (name === '' || model === '' || rest.length > 0)
        context.addIssue({ code: 'custom', message: `must be usual or name=model, but has ${entry}` });
      names.set(name, model);
    }
    return { usual: entries.includes('usual'), names };
  });

/**
 * What a name stands for: a model, or whatever model is served for this use (`served`). Undefined where it is no alias.
 */
export function aliasOf(
  { usual, names }: ModelAliases,
  name: string,
  use: ModelUse,
): { model: string } | 'served' | undefined {
  const model = names.get(name);
  if (model !== undefined) return { model };
  const isUsual = usual && usualNames.some(([kind, pattern]) => kind === use && pattern.test(name));
  return isUsual ? 'served' : undefined;
}

const megabyte = 1024 * 1024;

/** The gateway's variables that concern stored files and vector stores. */
const filesEnvironmentShape = {
  /** Most bytes of one stored file. */
  FILES_FILE_LIMIT_BYTES: bytes('stored').default(512 * megabyte),
  /** Most bytes of all files of one API key. */
  FILES_LIMIT_BYTES: bytes('stored').default(10 * 1024 * megabyte),
  /** Most files of one API key. */
  FILES_LIMIT_COUNT: count(1).default(10_000),
  /** How long a gateway may be silent before another one takes up the files that it was indexing. */
  INDEXING_LEASE_MS: milliseconds(500).default(15_000),
};

const gigabyte = 1024 ** 3;

/** The gateway's variables that concern stored responses. */
const responsesEnvironmentShape = {
  /** Days that a finished response is kept after the last one that continues it, and a chat completion; 0: for ever. */
  RESPONSES_TTL_DAYS: days().default(30),
  /** Most finished responses, and most chat completions, of one owner; the oldest go first; 0: no bound. */
  RESPONSES_MAX_COUNT: count(0).default(100_000),
  /** Most bytes of the finished responses, and of the chat completions, of one owner; the oldest go first; 0: no bound. */
  RESPONSES_LIMIT_BYTES: bytes('stored', 0).default(10 * gigabyte),
  /** Most bytes of the conversations and records of one owner; 0: no bound. */
  CONVERSATIONS_LIMIT_BYTES: bytes('stored', 0).default(2 * gigabyte),
  /** Days that a conversation is kept after its last change; 0: for ever. */
  CONVERSATIONS_TTL_DAYS: days().default(0),
  /** How long a gateway may be silent before another one takes its responses over. */
  RESPONSES_LEASE_MS: milliseconds(50).default(15_000),
  /** Longest run of a background response. */
  RESPONSES_BACKGROUND_TIMEOUT_MS: milliseconds(50).default(600_000),
  /** A stream that has said nothing for this long repeats `response.in_progress`. */
  RESPONSES_KEEP_ALIVE_MS: milliseconds(50).default(15_000),
  /** Comma list of secrets that seal what clients keep for the server; the first seals, all open. */
  RESPONSES_ENCRYPTION_KEYS: z
    .string()
    .transform((value) => value.split(',').map((key) => key.trim()))
    .pipe(z.array(z.string().min(32, 'must have at least 32 characters each')))
    .default([]),
  /** What becomes of images, which the model cannot see: refused, or described by type and size. */
  RESPONSES_IMAGE_INPUT: z.enum(['refuse', 'describe']).default('refuse'),
  /** Longest wait for an answer of an MCP server. */
  RESPONSES_MCP_TIMEOUT_MS: milliseconds(50).default(60_000),
  /** Longest wait for a file behind a URL. */
  LINK_TIMEOUT_MS: milliseconds(50).default(20_000),
  /** Lets files and MCP servers lie at private addresses, e.g. in an intranet. */
  ALLOW_PRIVATE_LINKS: booleanSchema.default(false),
  /** Longest life of a WebSocket. */
  RESPONSES_SOCKET_LIFETIME_MS: milliseconds(50).default(3_600_000),
  /** Most WebSockets open at once. */
  RESPONSES_MAX_SOCKETS: count(0).default(256),
};

export const gatewayEnvironmentSchema = baseEnvironmentSchema.extend({
  GATEWAY_PORT: portSchema.default(8888),
  /** Folder of the mega services' YAML files; relative to the project. */
  MEGASERVICES_DIR: z.string().default('megaservices'),
  /** What answers a chat that names no model. */
  DEFAULT_MEGASERVICE: z.string().default('chatqna'),
  /** The language model that is asked where neither a request nor a node of a mega service names one. */
  DEFAULT_MODEL: z.string().optional(),
  /** The web app at `/`. */
  WEB_UI: booleanSchema.default(true),
  /** Chats and responses name a mega service; the language model itself is not served. */
  MEGA_SERVICES_ONLY: booleanSchema.default(false),
  /** Other names of models: `whisper-1=nano-asr`; `usual` for those that clients send by default. */
  MODEL_ALIASES: modelAliasesSchema,
  ...uploadEnvironmentSchema.shape,
  ...audioEnvironmentShape,
  ...liveEnvironmentShape,
  ...databaseEnvironmentSchema.shape,
  ...responsesEnvironmentShape,
  ...filesEnvironmentShape,
  /** Requests per minute and client (API key, otherwise address); 0: no limit. */
  RATE_LIMIT_PER_MINUTE: count(0).default(0),
});
export type GatewayEnvironment = z.infer<typeof gatewayEnvironmentSchema>;

/** Injection token of the gateway's parsed environment. */
export const gatewayEnvironment = Symbol('gatewayEnvironment');

/** The parsed environment and the limits in it, for each module. */
@Global()
@Module({})
export class ConfigModule {
  static register(environment: GatewayEnvironment): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: gatewayEnvironment, useValue: environment },
        { provide: uploadLimits, useValue: uploadLimitsOf(environment) },
        { provide: audioLimits, useValue: audioLimitsOf(environment) },
      ],
      exports: [gatewayEnvironment, uploadLimits, audioLimits],
    };
  }
}
