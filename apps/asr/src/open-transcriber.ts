import { ModelNotFoundError } from '#engine/models';
import { openRemoteTranscriber } from '#engine/remote-engines';
import { announceModel, chosenWeights, modelOptions, type Profile } from '#platform/service-kit';
import { loadTranscriber, type Transcriber } from '#engine/speech';
import type { AsrEnvironment } from './asr.environment.js';

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
