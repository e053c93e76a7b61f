import { audioEnvironmentShape, liveEnvironmentShape } from '#api/audio-api';
import { baseEnvironmentSchema, count, portSchema, seconds, weightsSchema } from '#platform/service-kit';
import { z } from 'zod';

export const asrEnvironmentSchema = baseEnvironmentSchema.extend({
  ASR_PORT: portSchema.default(9099),
  /** A bundled name, a local directory or a hub id; default: the profile's model. With ASR_ENDPOINT: a model there. */
  ASR_MODEL_ID: z.string().optional(),
  /** Precision of the weights of a local model. */
  ASR_WEIGHTS: weightsSchema,
  /** A server with OpenAI's audio API to use in place of a local model. */
  ASR_ENDPOINT: z.url().optional(),
  /** Sent to that server as a bearer token. */
  ASR_API_KEY: z.string().optional(),
  /** Silero's `silero_vad.onnx`, or a folder that contains it; without it the loudness separates speech from pauses. */
  ASR_VAD_MODEL: z.string().optional(),
  /** Threads, each with a copy of the model; a CTC model transcribes one file in each. */
  ASR_WORKERS: count(1, 64).default(2),
  /** Windows of 30 seconds that a Whisper model decodes together in each thread, of one file or of several. */
  ASR_WINDOWS: count(1, 64).default(4),
  /** Width of the beam search of a CTC model; 1 takes the best unit of each step. */
  ASR_BEAMS: count(1, 256).default(32),
  /** Longer audio is refused. */
  ASR_MAX_SECONDS: seconds(1).default(7_200),
  ...audioEnvironmentShape,
  ...liveEnvironmentShape,
});
export type AsrEnvironment = z.infer<typeof asrEnvironmentSchema>;
