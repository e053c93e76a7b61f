import { MessagingModule } from '#messaging';
import { messagingOptions, loadProfile, ServiceKitModule, type ServiceIdentity } from '#service-kit';
import { Module, type DynamicModule } from '@nestjs/common';
import { generatorToken, openGenerator, type LlmGenerator } from './open-generator.js';
import { LlmController } from './llm.controller.js';
import { llmSettings, selectSettings, type LlmEnvironment } from './llm.environment.js';
import { LlmRpcController } from './llm.rpc.controller.js';
import { LlmService } from './llm.service.js';
import { answererToken, Library, openAnswerer } from './reading/index.js';
import { WritingRpcController } from './writing/writing.rpc.controller.js';
import { WritingService } from './writing/writing.service.js';

export const identity: ServiceIdentity = {
  service: 'llm',
  title: 'opea_service@llm',
  description: 'Writes answers, from given passages where there are some.',
  wrongMethodTexts: { '/v1/chat/completions': 'The request of LLM generation fails.' },
};

@Module({})
export class LlmModule {
  static register(environment: LlmEnvironment): DynamicModule {
    const profile = loadProfile(environment.MEGANEST_PROFILE);
    return {
      module: LlmModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [LlmController, LlmRpcController, WritingRpcController],
      providers: [
        { provide: generatorToken, useFactory: () => openGenerator(environment, profile) },
        { provide: llmSettings, useValue: selectSettings(profile, environment) },
        {
          provide: answererToken,
          useFactory: (generator: LlmGenerator, library: Library) =>
            openAnswerer(environment, profile, { generator, library }),
          inject: [generatorToken, Library],
        },
        Library,
        LlmService,
        WritingService,
      ],
    };
  }
}
