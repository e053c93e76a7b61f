import {
  decodeVector,
  invalidField,
  readNamedDocuments,
  readNeighbours,
  retrieve,
  type ParsedRequestOf,
  type ReplyOf,
} from '#platform/contracts';
import { RpcHandler } from '#platform/messaging';
import { databaseOptions, HealthRegistry, loadProfile, type ServiceIdentity } from '#platform/service-kit';
import { ChunksRepository, Database, DocumentsRepository, openMigratedDatabase } from '#platform/storage';
import {
  Controller,
  Inject,
  Injectable,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { EmbeddingModelCheck } from './embedding-model.js';
import { QueryEmbedder, RetrievalController } from './retrieval.controller.js';
import { retrievalDefaults, RetrievalService } from './retrieval.service.js';
import type { RetrievalEnvironment } from './retrieval.environment.js';

/** Healthy while the database answers a query over the tables that searches use. */
@Injectable()
class RetrievalHealth implements OnApplicationShutdown {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(DocumentsRepository) repository: DocumentsRepository,
    @Inject(HealthRegistry) health: HealthRegistry,
    @Inject(EmbeddingModelCheck) models: EmbeddingModelCheck,
  ) {
    health.register('postgres', async () => {
      const { documents, chunks } = await repository.count();
      return `${documents} documents, ${chunks} chunks`;
    });
    health.watchWarnings(async () => [await models.warning()].filter((warning) => warning !== undefined));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

@Controller()
export class RetrievalRpcController {
  constructor(@Inject(RetrievalService) private readonly retrieval: RetrievalService) {}

  @RpcHandler(retrieve)
  retrieve({ embedding, ...request }: ParsedRequestOf<typeof retrieve>): Promise<ReplyOf<typeof retrieve>> {
    return this.retrieval.retrieve({ ...request, embedding: decodeEmbedding(embedding) });
  }

  @RpcHandler(readNeighbours)
  neighbours(request: ParsedRequestOf<typeof readNeighbours>): Promise<ReplyOf<typeof readNeighbours>> {
    return this.retrieval.neighbours(request);
  }

  @RpcHandler(readNamedDocuments)
  namedDocuments(
    request: ParsedRequestOf<typeof readNamedDocuments>,
  ): Promise<ReplyOf<typeof readNamedDocuments>> {
    return this.retrieval.namedDocuments(request);
  }
}

function decodeEmbedding(encoded: string | undefined): Float32Array | undefined {
  if (encoded === undefined) return undefined;
  if (Buffer.byteLength(encoded, 'base64') % Float32Array.BYTES_PER_ELEMENT === 0)
    return decodeVector(encoded);
  throw invalidField('embedding', 'is not base64 of Float32 numbers');
}

export const identity: ServiceIdentity = {
  service: 'retrieval',
  title: 'opea_service@retriever',
  description: 'Finds the passages of the ingested documents that match a question.',
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
      controllers: [RetrievalController, RetrievalRpcController],
      providers: [
        {
          provide: Database,
          useFactory: () => openMigratedDatabase(databaseOptions(identity.service, environment)),
        },
        { provide: retrievalDefaults, useValue: loadProfile(environment.MEGANEST_PROFILE).retrieval },
        ...repositories,
        EmbeddingModelCheck,
        QueryEmbedder,
        RetrievalHealth,
        RetrievalService,
      ],
    };
  }
}
