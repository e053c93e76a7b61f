import { z } from 'zod';
import { readOptionalJson, ModelLoadError } from '#models';
import { CtcTranscriber } from './ctc/ctc-transcriber.js';
import type { TranscriberSettings } from './transcriber-messages.js';
import { WhisperTranscriber } from './whisper/whisper-transcriber.js';

const configSchema = z.looseObject({ model_type: z.string().optional() });

/** Loads the model of a folder: Whisper, or a CTC model. Errors: ModelLoadError. */
export async function openModel(settings: TranscriberSettings): Promise<CtcTranscriber | WhisperTranscriber> {
  const config = await readOptionalJson(settings.directory, 'config.json', configSchema);
  if (!config) throw new ModelLoadError(`${settings.directory} does not contain config.json.`);
  return config.model_type === 'whisper' ? WhisperTranscriber.load(settings) : CtcTranscriber.load(settings);
}
