import { audioEnvironmentShape, liveEnvironmentShape } from '#audio-api';
import { uploadEnvironmentSchema } from '#dataprep-api';
import {
  baseEnvironmentSchema,
  booleanSchema,
  count,
  databaseEnvironmentSchema,
  portSchema,
} from '#service-kit';
import { z } from 'zod';
import { filesEnvironmentShape } from './files.environment.js';
import { modelAliasesSchema } from './model-aliases.js';
import { responsesEnvironmentShape } from './responses.environment.js';

export const gatewayEnvironmentSchema = baseEnvironmentSchema.extend({
  GATEWAY_PORT: portSchema.default(8888),
  /** Folder of the mega services' YAML files; relative to the project. */
  MEGASERVICES_DIR: z.string().default('megaservices'),
  /** What answers a chat that names no model. */
  DEFAULT_MEGASERVICE: z.string().default('chatqna'),
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
