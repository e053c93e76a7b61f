import { MessagingModule } from '#messaging';
import {
  messagingOptions,
  loadProfile,
  ServiceKitModule,
  type ServiceIdentity,
  databaseOptions,
} from '#service-kit';
import { ChunksRepository, Database, DocumentsRepository, openMigratedDatabase } from '#storage';
import { Module, type DynamicModule } from '@nestjs/common';
import { QueryEmbedder } from './query-embedder.client.js';
import { RetrievalController } from './retrieval.controller.js';
import { retrievalDefaults } from './retrieval.defaults.js';
import type { RetrievalEnvironment } from './retrieval.environment.js';
import { RetrievalHealth } from './retrieval.health.js';
import { RetrievalRpcController } from './retrieval.rpc.controller.js';
import { RetrievalService } from './retrieval.service.js';

export const identity: ServiceIdentity = {
  service: 'retrieval',
  title: 'opea_service@retriever',
  description: 'Finds the passages of the ingested documents that fit a question.',
  // The specification has the text of its ASR page here too.
  wrongMethodTexts: { '/v1/rag_retrieval': 'The request of ASR fails.' },
};

const repositories = [ChunksRepository, DocumentsRepository].map((provide) => ({
  provide,
  inject: [Database],
  useFactory: (database: Database) => new provide(database),
}));

@Module({})
export class RetrievalModule {
  static register(environment: RetrievalEnvironment): DynamicModule {
    return {
      module: RetrievalModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [RetrievalController, RetrievalRpcController],
      providers: [
        {
          provide: Database,
          useFactory: () => openMigratedDatabase(databaseOptions(identity.service, environment)),
        },
        { provide: retrievalDefaults, useValue: loadProfile(environment.MEGANEST_PROFILE).retrieval },
        ...repositories,
        QueryEmbedder,
        RetrievalHealth,
        RetrievalService,
      ],
    };
  }
}
