import { audioEnvironmentShape, liveEnvironmentShape, type TranscriptionRequest } from '#api/audio-api';
import { assertServedModel, type ModelInfo, type TranscriptChunk } from '#platform/contracts';
import { ModelNotFoundError } from '#engine/models';
import { openRemoteTranscriber } from '#engine/remote-engines';
import {
  announceModel,
  baseEnvironmentSchema,
  chosenWeights,
  count,
  HealthRegistry,
  Metrics,
  modelOptions,
  portSchema,
  weightsSchema,
  seconds,
  type Profile,
} from '#platform/service-kit';
import { loadTranscriber, type Transcriber } from '#engine/speech';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
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

/** Injection token of the transcriber. */
export const transcriberToken = Symbol('transcriber');

/** Supported speech models, for the error about an unknown one: docs/models.md. */
const knownModels = [
  'nano-asr (bundled, English)',
  'openai/whisper-tiny, -base, -small, -medium, -large-v3 and -large-v3-turbo',
  'their English forms such as openai/whisper-base.en',
  'distil-whisper/distil-large-v3.5',
];

/** Loads the configured model, or connects to its engine. Errors: an Error with the failed part and the reason. */
export async function openTranscriber(environment: AsrEnvironment, profile: Profile): Promise<Transcriber> {
  const { ASR_ENDPOINT: endpoint, ASR_API_KEY: apiKey, ASR_MODEL_ID: model } = environment;
  const compiledWeights = chosenWeights('ASR_WEIGHTS', environment.ASR_WEIGHTS, {
    endpoint,
    device: environment.DEVICE,
  });
  if (endpoint) return openRemoteTranscriber({ endpoint, apiKey, model });
  const options = {
    ...modelOptions(environment, profile, model),
    compiledWeights,
    workers: environment.ASR_WORKERS,
    beams: environment.ASR_BEAMS,
    windows: environment.ASR_WINDOWS,
    maxSeconds: environment.ASR_MAX_SECONDS,
    voiceModel: environment.ASR_VAD_MODEL,
  };
  try {
    return announceModel(await loadTranscriber(model ?? profile.asr.model, options));
  } catch (error) {
    if (!(error instanceof ModelNotFoundError)) throw error;
    throw new ModelNotFoundError(
      `ASR_MODEL_ID: ${error.message} Supported models: ${knownModels.join('; ')}.`,
      { cause: error.cause },
    );
  }
}

/** Transcribes speech, for requests over HTTP and NATS. */
@Injectable()
export class AsrService implements OnApplicationShutdown {
  constructor(
    @Inject(transcriberToken) private readonly transcriber: Transcriber,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('model', async (signal) => {
      await this.transcriber.check(signal);
      return this.transcriber.info.id;
    });
  }

  get model(): ModelInfo {
    return this.transcriber.info;
  }

  /**
   * Transcribes segment by segment. Leaving the loop or aborting the signal stops the work at the next segment. Errors:
   * model_not_found, unsupported_file, payload_too_large, unsupported_parameter, overloaded, cancelled.
   */
  async *transcribe(
    { audio, model, ...request }: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptChunk, void, void> {
    assertServedModel(model, this.model.id);
    const operation = this.metrics.start('transcribe');
    try {
      const { bytes, filename } = audio;
      for await (const event of this.transcriber.transcribe({ ...request, audio: bytes, filename }, signal)) {
        if (event.kind === 'audio') {
          const { seconds, language, ignored } = event;
          yield { audio: { model: this.model.id, seconds, language, ignored: [...ignored] } };
        } else {
          operation.firstToken();
          yield { segment: event.segment, done: event.done };
        }
      }
      operation.end('ok');
    } finally {
      operation.end(signal.aborted ? 'cancelled' : 'error');
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.transcriber.close();
  }
}
