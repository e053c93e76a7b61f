import type { IngestedDocument } from '#platform/contracts';
import {
  CatalogController,
  Dataprep,
  IngestController,
  IngestReceiver,
  uploadLimits,
  uploadLimitsOf,
} from '#api/dataprep-api';
import { ObjectStore, RpcClient, MessagingConnection } from '#platform/messaging';
import {
  loadProfile,
  Metrics,
  databaseOptions,
  Drain,
  HealthRegistry,
  type ServiceIdentity,
} from '#platform/service-kit';
import {
  Database,
  DocumentsRepository,
  JobDocuments,
  JobsRepository,
  openMigratedDatabase,
  OriginalsRepository,
  ReembeddingRepository,
} from '#platform/storage';
import {
  Module,
  Inject,
  Injectable,
  Logger,
  type DynamicModule,
  type Provider,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { DataprepEnvironment } from './dataprep.environment.js';
import { DataprepRpcController } from './dataprep.rpc.controller.js';
import { TextExtractor } from './extract/text-extractor.js';
import { DocumentLoader } from './ingest/document-loader.js';
import { DocumentPreparer } from './ingest/document-preparer.js';
import { EmbeddingClient } from './ingest/embedding.client.js';
import { IngestJobs } from './ingest/ingest-jobs.js';
import { IngestService } from './ingest/ingest.service.js';
import { MediaReader } from './ingest/media/media-reader.js';
import type { JobProgress } from './ingest/job-run.js';
import { jobSignal } from './ingest/job-signal.js';
import { SourceReader, type IngestRequest, type SourceLimits } from './ingest/sources.js';
import { Reembedding } from './ingest/reembedding.js';
import { LocalDataprep } from './local-dataprep.js';

export const identity: ServiceIdentity = {
  service: 'dataprep',
  title: 'opea_service@dataprep',
  description: 'Reads documents, splits them into passages, embeds and stores them.',
};

@Module({})
export class DataprepModule {
  static register(environment: DataprepEnvironment): DynamicModule {
    return {
      module: DataprepModule,
      controllers: [IngestController, CatalogController, DataprepRpcController],
      providers: [
        {
          provide: Database,
          useFactory: () => openMigratedDatabase(databaseOptions(identity.service, environment)),
        },
        { provide: uploadLimits, useValue: uploadLimitsOf(environment) },
        ...storageProviders(environment),
        ...readingProviders(environment),
        ...ingestProviders(environment),
        IngestReceiver,
        { provide: Dataprep, useClass: LocalDataprep },
        DataprepHealth,
      ],
    };
  }
}

function storageProviders(environment: DataprepEnvironment): Provider[] {
  return [
    {
      provide: DocumentsRepository,
      inject: [Database],
      useFactory: (database: Database) =>
        new DocumentsRepository(database, environment.DOCUMENTS_LIMIT_BYTES),
    },
    {
      provide: OriginalsRepository,
      inject: [Database],
      useFactory: (database: Database) =>
        new OriginalsRepository(database, environment.ORIGINALS_LIMIT_BYTES),
    },
  ];
}

function sourceLimitsOf(environment: DataprepEnvironment): SourceLimits {
  return {
    maxFileBytes: environment.UPLOAD_FILE_LIMIT_BYTES,
    linkTimeoutMs: environment.LINK_TIMEOUT_MS,
    allowPrivateLinks: environment.ALLOW_PRIVATE_LINKS,
  };
}

function readingProviders(environment: DataprepEnvironment): Provider[] {
  const sourceLimits = sourceLimitsOf(environment);
  return [
    { provide: DocumentPreparer, useFactory: () => new DocumentPreparer() },
    {
      provide: MediaReader,
      inject: [RpcClient, ObjectStore],
      useFactory: (rpc: RpcClient, objects: ObjectStore) =>
        new MediaReader(rpc, objects, { maxSeconds: environment.RECORDING_LIMIT_SECONDS }),
    },
    {
      provide: TextExtractor,
      inject: [ObjectStore, DocumentPreparer, MediaReader],
      useFactory: (objects: ObjectStore, preparer: DocumentPreparer, media: MediaReader) =>
        new TextExtractor(new SourceReader(objects, sourceLimits), preparer, media),
    },
  ];
}

/** What the service of ingests is made of. */
const ingestParts = [
  DocumentPreparer,
  MediaReader,
  DocumentsRepository,
  OriginalsRepository,
  ObjectStore,
  RpcClient,
  Metrics,
] as const;
type Instances<Classes extends readonly (abstract new (...parts: never) => unknown)[]> = {
  -readonly [Index in keyof Classes]: InstanceType<Classes[Index]>;
};

function ingestProviders(environment: DataprepEnvironment): Provider[] {
  const { chunking } = loadProfile(environment.MEGANEST_PROFILE);
  const sourceLimits = sourceLimitsOf(environment);
  const ingestService = (
    ...[preparer, media, documents, originals, objects, rpc, metrics]: Instances<typeof ingestParts>
  ) => {
    const embedding = new EmbeddingClient(rpc);
    const parts = {
      sources: new SourceReader(objects, sourceLimits),
      loader: new DocumentLoader(preparer, documents, media),
      documents,
      originals,
      embedding,
    };
    return new IngestService(parts, chunking, metrics);
  };
  return [
    {
      provide: Reembedding,
      inject: [Database, DocumentsRepository, RpcClient],
      useFactory: (database: Database, { indexer }: DocumentsRepository, rpc: RpcClient) =>
        new Reembedding(new ReembeddingRepository(database, indexer), new EmbeddingClient(rpc)),
    },
    {
      provide: IngestService,
      inject: [...ingestParts],
      useFactory: ingestService,
    },
    {
      provide: IngestJobs,
      inject: [IngestService, Database, ObjectStore, MessagingConnection],
      useFactory: (...given: [IngestService, Database, ObjectStore, MessagingConnection]) =>
        openJobs(environment.JOB_ABANDONED_AFTER_MS, ...given),
    },
  ];
}

function openJobs(
  idleMs: number,
  ingests: IngestService,
  database: Database,
  objects: ObjectStore,
  connection: MessagingConnection,
): IngestJobs {
  const parts = {
    ingests,
    jobs: new JobsRepository<JobProgress, IngestRequest>(database),
    documents: new JobDocuments<JobProgress, IngestRequest, IngestedDocument>(database, idleMs),
    signal: jobSignal(connection),
    discard: ({ files }: IngestRequest) => objects.discard(files),
  };
  return new IngestJobs(parts, idleMs);
}

/** Interval at which the indexes of deleted collections are dropped. */
const tidyEveryMs = 3_600_000;

/** Reports the health of the dependencies, and stops the work in order: jobs first, the database last. */
@Injectable()
class DataprepHealth implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #logger = new Logger('indexes');
  @Inject(DocumentsRepository)
  private readonly documents!: DocumentsRepository;
  @Inject(Reembedding)
  private readonly reembedding!: Reembedding;

  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(IngestJobs) private readonly jobs: IngestJobs,
    @Inject(MessagingConnection) connection: MessagingConnection,
    @Inject(HealthRegistry) health: HealthRegistry,
    @Inject(Drain) drain: Drain,
  ) {
    drain.onBegin((over) => jobs.idle(over));
    health.register('postgres', async () => {
      const counts = await this.documents.count();
      return `${counts.documents} documents, ${counts.chunks} chunks`;
    });
    health.register('nats', async () => void (await connection.ping()));
    jobs.watch();
  }

  onApplicationBootstrap(): void {
    const { indexer } = this.documents;
    indexer.onFailure = (error) => this.#logger.error('building an index of chunks failed', error);
    const catchUp = () => void indexer.catchUp().catch(indexer.onFailure);
    catchUp();
    setInterval(catchUp, tidyEveryMs).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.documents.indexer.stop();
    await Promise.all([this.jobs.close(), this.reembedding.close()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
