import {
  ServedModelController,
  SpeechController,
  Synthesis,
  TtsController,
  VoicesController,
} from '#api/audio-api';
import { describeTtsModel } from '#platform/contracts';
import { modelService, runService } from '#platform/service-kit';
import { loadFlite, openRemoteSynthesizer, type SpeechSynthesizer } from '#engine/speech-synthesis';
import { LocalSynthesis } from './local-synthesis.js';
import { ttsEnvironmentSchema, type TtsEnvironment } from './tts.environment.js';
import { TtsRpcController } from './tts.rpc.controller.js';
import { defaultVoiceToken, TtsService } from './tts.service.js';

await runService(
  modelService({
    identity: {
      service: 'tts',
      title: 'opea_service@tts',
      description: 'Synthesizes speech from texts.',
    },
    environment: ttsEnvironmentSchema,
    port: ({ TTS_PORT }) => TTS_PORT,
    open: openSynthesizer,
    probe: (synthesizer, signal) => synthesizer.check(signal),
    describe: describeTtsModel,
    description: ({ info, voices }) => ({ ...info, voices: [...voices] }),
    parts: ({ TTS_VOICE }) => ({
      controllers: [
        SpeechController,
        TtsController,
        VoicesController,
        ServedModelController,
        TtsRpcController,
      ],
      providers: [
        { provide: defaultVoiceToken, useValue: TTS_VOICE },
        TtsService,
        { provide: Synthesis, useClass: LocalSynthesis },
      ],
    }),
  }),
);

/** The bundled voices, or the server that TTS_ENDPOINT names. */
function openSynthesizer(environment: TtsEnvironment): Promise<SpeechSynthesizer> {
  const { TTS_ENDPOINT: endpoint, TTS_API_KEY: apiKey, TTS_MODEL_ID: model } = environment;
  if (endpoint) return openRemoteSynthesizer({ endpoint, apiKey, model });
  return loadFlite({ workers: environment.TTS_WORKERS });
}
