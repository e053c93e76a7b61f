import { z } from 'zod';
import { ModelLoadError, readOptionalJson, serveWorker } from '#engine/models';
import { CtcTranscriber } from './ctc/ctc-transcriber.js';
import type {
  TranscribeRequest,
  TranscriberReady,
  TranscriberSettings,
  TranscriptEvent,
} from './transcriber.js';
import { WhisperTranscriber } from './whisper/whisper-transcriber.js';

const configSchema = z.looseObject({ model_type: z.string().optional() });

/** Entry point of a thread that decodes audio and owns a session of the speech model. */
await serveWorker<TranscriberReady, TranscribeRequest, TranscriptEvent, undefined>(async (settings) => {
  const model = await openModel(settings as TranscriberSettings);
  return {
    dispose: () => model.close(),
    ready: model.ready,
    handle: async (call, context) => {
      await model.transcribe(call, context);
      return { value: undefined };
    },
  };
});

/** Loads the model of a folder: Whisper, or a CTC model. Errors: ModelLoadError. */
async function openModel(settings: TranscriberSettings): Promise<CtcTranscriber | WhisperTranscriber> {
  const config = await readOptionalJson(settings.directory, 'config.json', configSchema);
  if (!config) throw new ModelLoadError(`${settings.directory} does not contain config.json.`);
  return config.model_type === 'whisper' ? WhisperTranscriber.load(settings) : CtcTranscriber.load(settings);
}
