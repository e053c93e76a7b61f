import { baseEnvironmentSchema, count, portSchema } from '#service-kit';
import { z } from 'zod';

export const ttsEnvironmentSchema = baseEnvironmentSchema.extend({
  TTS_PORT: portSchema.default(9088),
  /** A server with OpenAI's `/v1/audio/speech` in place of the bundled voices. */
  TTS_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TTS_API_KEY: z.string().optional(),
  /** One of that server's models; the first that it lists otherwise. */
  TTS_MODEL_ID: z.string().optional(),
  /** The voice of requests that name none. */
  TTS_VOICE: z.string().optional(),
  /** Threads that speak. */
  TTS_WORKERS: count(1, 64).default(1),
});
export type TtsEnvironment = z.infer<typeof ttsEnvironmentSchema>;
