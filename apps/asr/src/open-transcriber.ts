import { announceModel, modelOptions, type Profile } from '#service-kit';
import { ModelNotFoundError } from '#models';
import { openRemoteTranscriber } from '#remote-engines';
import { loadTranscriber, type Transcriber } from '#speech';
import type { AsrEnvironment } from './asr.environment.js';

/** Injection token of the transcriber. */
export const transcriberToken = Symbol('transcriber');

/** Speech models that are served, for callers who named another one: docs/models.md. */
const knownModels = [
  'nano-asr (bundled, English)',
  'openai/whisper-tiny, -base, -small, -medium, -large-v3 and -large-v3-turbo',
  'their English forms such as openai/whisper-base.en',
  'distil-whisper/distil-large-v3.5',
];

/** Loads the configured model, or connects to the engine that has it. Errors: says which one failed, and why. */
export async function openTranscriber(environment: AsrEnvironment, profile: Profile): Promise<Transcriber> {
  const { ASR_ENDPOINT: endpoint, ASR_API_KEY: apiKey, ASR_MODEL_ID: model } = environment;
  if (endpoint) return openRemoteTranscriber({ endpoint, apiKey, model });
  const options = {
    ...modelOptions(environment, profile, model),
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
      `ASR_MODEL_ID: ${error.message} Models that work: ${knownModels.join('; ')}.`,
      { cause: error.cause },
    );
  }
}
