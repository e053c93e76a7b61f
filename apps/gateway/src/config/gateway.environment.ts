import { audioEnvironmentShape, audioLimits, audioLimitsOf, liveEnvironmentShape } from '#api/audio-api';
import { uploadEnvironmentSchema, uploadLimits, uploadLimitsOf } from '#api/dataprep-api';
import {
  baseEnvironmentSchema,
  booleanSchema,
  bytes,
  count,
  databaseEnvironmentSchema,
  days,
  milliseconds,
  portSchema,
} from '#platform/service-kit';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { z } from 'zod';

/** Uses of a model, as far as the names of other vendors' models show them. */
export type ModelUse = 'answers' | 'vectors' | 'transcripts' | 'ranking' | 'speech';

/** Names of models that clients send by default, with the use of the model: OpenAI's, Cohere's, Anthropic's and OPEA's. */
const usualNames: Readonly<Record<ModelUse, RegExp>> = {
  transcripts: /^((openai\/)?whisper-|gpt-4o(-mini)?-transcribe)/,
  speech: /^(tts-\d|gpt-4o(-mini)?-tts|microsoft\/speecht5_tts$)/,
  vectors: /^(text-embedding-|embed-|BAAI\/bge-(?!reranker))/,
  ranking: /^(rerank-|BAAI\/bge-reranker-)/,
  answers: /^(gpt-(?!.*(transcribe|tts|realtime|audio|image))|chatgpt-|o\d|codex-|command(-|$)|claude-)/,
};

/** The use of a model whose name clients send by default; undefined for other names. */
export function usualUseOf(name: string): ModelUse | undefined {
  const uses = Object.keys(usualNames) as ModelUse[];
  return uses.find((use) => usualNames[use].test(name));
}

/** The parsed `MODEL_ALIASES`. */
export interface ModelAliases {
  /** The names that clients send by default stand for the default model also where several language models run. */
  usual: boolean;
  names: ReadonlyMap<string, string>;
}

/** `MODEL_ALIASES`: `name=model`, and `usual`. The model of an alias is not an alias itself. */
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
        context.addIssue({ code: 'custom', message: `must be usual or name=model, not ${entry}` });
      names.set(name, model);
    }
    for (const [name, model] of names)
      if (names.has(model))
        context.addIssue({
          code: 'custom',
          message: `${name}=${model}: ${model} is an alias itself; name its model, ${names.get(model)}`,
        });
    return { usual: entries.includes('usual'), names };
  });

const megabyte = 1024 * 1024;

/** The gateway's variables for stored files and vector stores. */
const filesEnvironmentShape = {
  /** Maximum bytes of one stored file. */
  FILES_FILE_LIMIT_BYTES: bytes('stored').default(512 * megabyte),
  /** Maximum bytes of all files of one API key. */
  FILES_LIMIT_BYTES: bytes('stored').default(10 * 1024 * megabyte),
  /** Maximum number of files of one API key. */
  FILES_LIMIT_COUNT: count(1).default(10_000),
  /** Time without a sign of life after which another gateway continues the indexing of a gateway's files. */
  INDEXING_LEASE_MS: milliseconds(500).default(15_000),
};

const gigabyte = 1024 ** 3;

/** The gateway's variables for responses, chat completions and conversations. */
const responsesEnvironmentShape = {
  /**
   * Days until a finished response is deleted, counted from the last response that continues it; also days until a chat
   * completion is deleted. 0: never deleted.
   */
  RESPONSES_TTL_DAYS: days().default(30),
  /** Maximum finished responses, and chat completions, of one owner. The oldest are deleted first. 0: no limit. */
  RESPONSES_MAX_COUNT: count(0).default(100_000),
  /**
   * Maximum bytes of the finished responses, and of the chat completions, of one owner. The oldest are deleted first.
   * 0: no limit.
   */
  RESPONSES_LIMIT_BYTES: bytes('stored', 0).default(10 * gigabyte),
  /** Maximum bytes of the conversations and records of one owner; 0: no limit. */
  CONVERSATIONS_LIMIT_BYTES: bytes('stored', 0).default(2 * gigabyte),
  /** Days after its last change until a conversation is deleted; 0: never deleted. */
  CONVERSATIONS_TTL_DAYS: days().default(0),
  /** Time without a sign of life after which another gateway takes over a gateway's responses. */
  RESPONSES_LEASE_MS: milliseconds(50).default(15_000),
  /** Timeout of a background response. */
  RESPONSES_BACKGROUND_TIMEOUT_MS: milliseconds(50).default(600_000),
  /** A stream without an event for this time repeats `response.in_progress`. */
  RESPONSES_KEEP_ALIVE_MS: milliseconds(50).default(15_000),
  /**
   * Comma-separated secrets that encrypt the data that clients store for the server. The first one encrypts, all
   * decrypt.
   */
  RESPONSES_ENCRYPTION_KEYS: z
    .string()
    .transform((value) => value.split(',').map((key) => key.trim()))
    .pipe(z.array(z.string().min(32, 'must have at least 32 characters each')))
    .default([]),
  /** Images for a model without image input: refuse them, or describe them by type and size. */
  RESPONSES_IMAGE_INPUT: z.enum(['refuse', 'describe']).default('refuse'),
  /** A request whose only tools are built-in ones that are not served: refuse it, or answer without them. */
  UNSERVED_TOOLS: z.enum(['refuse', 'ignore']).default('refuse'),
  /** Endpoint of the tool `web_search`: SearXNG's `/search`, or Brave's with a key. Absent: the tool is not served. */
  WEB_SEARCH_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The key of Brave's search API. */
  WEB_SEARCH_KEY: z.string().min(1).optional(),
  /** Timeout of an MCP server. */
  RESPONSES_MCP_TIMEOUT_MS: milliseconds(50).default(60_000),
  /** Timeout of a file at a URL. */
  LINK_TIMEOUT_MS: milliseconds(50).default(20_000),
  /** Allows files and MCP servers at private addresses, e.g. in an intranet. */
  ALLOW_PRIVATE_LINKS: booleanSchema.default(false),
  /** Maximum lifetime of a WebSocket. */
  RESPONSES_SOCKET_LIFETIME_MS: milliseconds(50).default(3_600_000),
  /** Maximum number of open WebSockets. */
  RESPONSES_MAX_SOCKETS: count(0).default(256),
};

/** The environment variables of the gateway. */
export const gatewayEnvironmentSchema = baseEnvironmentSchema.extend({
  GATEWAY_PORT: portSchema.default(8888),
  /** Folder of the mega services' YAML files; relative to the project. */
  MEGASERVICES_DIR: z.string().default('megaservices'),
  /** The mega service for chats that do not name a model. */
  DEFAULT_MEGASERVICE: z.string().default('chatqna'),
  /** The language model for requests and nodes of mega services that do not name one. */
  DEFAULT_MODEL: z.string().optional(),
  /** Serves the web app at `/`. */
  WEB_UI: booleanSchema.default(true),
  /** Chats and responses must name a mega service. The language models are not served directly. */
  MEGA_SERVICES_ONLY: booleanSchema.default(false),
  /** Other names of models: `my-gpt=chatqna`; `usual` for the default names of clients where several models run. */
  MODEL_ALIASES: modelAliasesSchema,
  ...uploadEnvironmentSchema.shape,
  ...audioEnvironmentShape,
  ...liveEnvironmentShape,
  ...databaseEnvironmentSchema.shape,
  ...responsesEnvironmentShape,
  ...filesEnvironmentShape,
  /** Requests per minute of a client, which is an API key or, without keys, an address; 0: no limit. */
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
