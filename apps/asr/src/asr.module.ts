import { AsrController, AudioController, audioLimits, audioLimitsOf, Transcription } from '#audio-api';
import { MessagingModule } from '#messaging';
import { messagingOptions, loadProfile, ServiceKitModule, type ServiceIdentity } from '#service-kit';
import { Module, type DynamicModule } from '@nestjs/common';
import type { AsrEnvironment } from './asr.environment.js';
import { AsrRpcController } from './asr.rpc.controller.js';
import { AsrService } from './asr.service.js';
import { LocalTranscription } from './local-transcription.js';
import { ModelsController } from './models.controller.js';
import { openTranscriber, transcriberToken } from './open-transcriber.js';

export const identity: ServiceIdentity = {
  service: 'asr',
  title: 'opea_service@asr',
  description: 'Writes down what is said in audio files.',
  wrongMethodTexts: { '/v1/asr': 'The request of ASR fails.' },
};

@Module({})
export class AsrModule {
  static register(environment: AsrEnvironment): DynamicModule {
    const profile = loadProfile(environment.MEGANEST_PROFILE);
    return {
      module: AsrModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [AsrController, AudioController, ModelsController, AsrRpcController],
      providers: [
        { provide: transcriberToken, useFactory: () => openTranscriber(environment, profile) },
        { provide: audioLimits, useValue: audioLimitsOf(environment) },
        AsrService,
        { provide: Transcription, useClass: LocalTranscription },
      ],
    };
  }
}
