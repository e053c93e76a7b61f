import { announceModel, modelOptions, type Profile } from '#service-kit';
import { openRemoteTranscriber } from '#remote-engines';
import { loadTranscriber, type Transcriber } from '#speech';
import type { AsrEnvironment } from './asr.environment.js';

/** Loads the configured model, or connects to the engine that has it. Errors: says which one failed, and why. */
export async function openTranscriber(environment: AsrEnvironment, profile: Profile): Promise<Transcriber> {
  const { ASR_ENDPOINT: endpoint, ASR_API_KEY: apiKey, ASR_MODEL_ID: model } = environment;
  if (endpoint) return openRemoteTranscriber({ endpoint, apiKey, model });
  return announceModel(
    await loadTranscriber(model ?? profile.asr.model, {
      ...modelOptions(environment, profile, model),
      workers: environment.ASR_WORKERS,
      beams: environment.ASR_BEAMS,
      windows: environment.ASR_WINDOWS,
      maxSeconds: environment.ASR_MAX_SECONDS,
      voiceModel: environment.ASR_VAD_MODEL,
    }),
  );
}
