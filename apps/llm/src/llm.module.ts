import { RpcClient } from '#platform/messaging';
import { loadProfile, Metrics, type ServiceIdentity } from '#platform/service-kit';
import { Module, type DynamicModule } from '@nestjs/common';
import { EngineRegistry } from './engines/engine-registry.js';
import { EnginesRpcController } from './engines/engines.rpc.controller.js';
import { EngineServices, ServedModels } from './engines/served-models.js';
import { Library } from './library.js';
import { LlmController } from './llm.controller.js';
import {
  engineSettings,
  llmSettings,
  selectEngineSettings,
  selectSettings,
  type LlmEnvironment,
} from './llm.environment.js';
import { LlmRpcController, RawRpcController, WritingRpcController } from './llm.rpc.controllers.js';
import { LlmService } from './llm.service.js';
import { answererToken, openAnswerer } from './open-answerer.js';
import { generatorToken, openGenerator, type LlmGenerator } from './open-generator.js';
import { RawService } from './raw/raw.service.js';
import { WritingService } from './writing/writing.service.js';

export const identity: ServiceIdentity = {
  service: 'llm',
  title: 'opea_service@llm',
  description: 'Writes answers, from passages if the request has some.',
  wrongMethodTexts: { '/v1/chat/completions': 'The request of LLM generation fails.' },
};

@Module({})
export class LlmModule {
  static register(environment: LlmEnvironment): DynamicModule {
    const profile = loadProfile(environment.MEGANEST_PROFILE);
    return {
      module: LlmModule,
      controllers: [
        LlmController,
        EnginesRpcController,
        LlmRpcController,
        RawRpcController,
        WritingRpcController,
      ],
      providers: [
        {
          provide: EngineRegistry,
          useFactory: async (client: RpcClient, metrics: Metrics) => {
            const registry = new EngineRegistry(environment, client, metrics);
            await registry.start();
            return registry;
          },
          inject: [RpcClient, Metrics],
        },
        {
          provide: generatorToken,
          useFactory: async (registry: EngineRegistry): Promise<LlmGenerator> => {
            const generator = await openGenerator(environment, profile);
            const { LLM_ENDPOINT: endpoint, LLM_API_KEY: apiKey } = environment;
            return endpoint ? registry.adopt(generator, endpoint, apiKey) : generator;
          },
          inject: [EngineRegistry],
        },
        { provide: engineSettings, useValue: selectEngineSettings(profile, environment) },
        { provide: llmSettings, useValue: selectSettings(profile, environment) },
        {
          provide: answererToken,
          useFactory: (generator: LlmGenerator, library: Library) =>
            openAnswerer(environment, profile, { generator, library }),
          inject: [generatorToken, Library],
        },
        Library,
        LlmService,
        RawService,
        EngineServices,
        ServedModels,
        WritingService,
      ],
    };
  }
}
