import { SpeechController, Synthesis } from '#audio-api';
import { MessagingModule } from '#messaging';
import { messagingOptions, ServiceKitModule, type ServiceIdentity } from '#service-kit';
import { loadFlite, openRemoteSynthesizer, type SpeechSynthesizer } from '#speech-synthesis';
import { Module, type DynamicModule } from '@nestjs/common';
import { LocalSynthesis } from './local-synthesis.js';
import { ModelsController } from './models.controller.js';
import type { TtsEnvironment } from './tts.environment.js';
import { TtsRpcController } from './tts.rpc.controller.js';
import { defaultVoiceToken, synthesizerToken, TtsService } from './tts.service.js';

export const identity: ServiceIdentity = {
  service: 'tts',
  title: 'opea_service@tts',
  description: 'Speaks texts.',
};

/** The bundled voices, or the server that TTS_ENDPOINT names. */
function openSynthesizer(environment: TtsEnvironment): Promise<SpeechSynthesizer> {
  const { TTS_ENDPOINT: endpoint, TTS_API_KEY: apiKey, TTS_MODEL_ID: model } = environment;
  if (endpoint) return openRemoteSynthesizer({ endpoint, apiKey, model });
  return loadFlite({ workers: environment.TTS_WORKERS });
}

@Module({})
export class TtsModule {
  static register(environment: TtsEnvironment): DynamicModule {
    return {
      module: TtsModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [SpeechController, ModelsController, TtsRpcController],
      providers: [
        { provide: synthesizerToken, useFactory: () => openSynthesizer(environment) },
        { provide: defaultVoiceToken, useValue: environment.TTS_VOICE },
        TtsService,
        { provide: Synthesis, useClass: LocalSynthesis },
      ],
    };
  }
}
