import { baseEnvironmentSchema, count, portSchema } from '#platform/service-kit';
import { z } from 'zod';

export const ttsEnvironmentSchema = baseEnvironmentSchema.extend({
  TTS_PORT: portSchema.default(9088),
  /** A server with OpenAI's `/v1/audio/speech`, to use in place of the bundled voices. */
  TTS_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  TTS_API_KEY: z.string().optional(),
  /** A model of that server; default: the first one in its list. */
  TTS_MODEL_ID: z.string().optional(),
  /** The voice for requests without one. */
  TTS_VOICE: z.string().optional(),
  /** Number of threads for the synthesis. */
  TTS_WORKERS: count(1, 64).default(1),
});
export type TtsEnvironment = z.infer<typeof ttsEnvironmentSchema>;
