import { databaseOptions, HealthRegistry } from '#platform/service-kit';
import {
  BatchesRepository,
  CitedPassagesRepository,
  Database,
  openMigratedDatabase,
  ConversationsRepository,
  EnginesRepository,
  FilesRepository,
  IdempotentAnswersRepository,
  IndexingLeasesRepository,
  RateCountsRepository,
  ResponseItemsRepository,
  ResponseLeasesRepository,
  ResponsesRepository,
  SecretsRepository,
  StoredCompletionsRepository,
  UploadsRepository,
  VectorStoreFilesRepository,
  VectorStoresRepository,
} from '#platform/storage';
import { Global, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';

/** Default size of the connection pool: the statements are short, and many requests run concurrently. */
const connections = 8;

/** Shows the database in the gateway's health and closes it with the gateway. */
@Injectable()
class GatewayDatabase implements OnApplicationShutdown {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('postgres', async () => `${Math.round(await database.ping())} ms`);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

const repositories = [
  BatchesRepository,
  CitedPassagesRepository,
  EnginesRepository,
  FilesRepository,
  IdempotentAnswersRepository,
  IndexingLeasesRepository,
  RateCountsRepository,
  ResponseItemsRepository,
  ResponseLeasesRepository,
  SecretsRepository,
  UploadsRepository,
  VectorStoreFilesRepository,
  VectorStoresRepository,
];

/** Repositories with a limit for each owner. */
const bounded = [ResponsesRepository, StoredCompletionsRepository];

/** The gateway's Postgres pool, and the repositories that use it, for all modules. */
@Global()
@Module({
  providers: [
    {
      provide: Database,
      inject: [gatewayEnvironment],
      useFactory: (environment: GatewayEnvironment) => {
        const { DATABASE_POOL_SIZE: maxConnections = connections } = environment;
        return openMigratedDatabase({ ...databaseOptions('gateway', environment), maxConnections });
      },
    },
    GatewayDatabase,
    ...repositories.map((provide) => ({
      provide,
      inject: [Database],
      useFactory: (database: Database) => new provide(database),
    })),
    ...bounded.map((provide) => ({
      provide,
      inject: [Database, gatewayEnvironment],
      useFactory: (database: Database, environment: GatewayEnvironment) =>
        new provide(database, {
          maxCount: environment.RESPONSES_MAX_COUNT,
          maxBytes: environment.RESPONSES_LIMIT_BYTES,
        }),
    })),
    {
      provide: ConversationsRepository,
      inject: [Database, gatewayEnvironment],
      useFactory: (database: Database, environment: GatewayEnvironment) =>
        new ConversationsRepository(database, environment.CONVERSATIONS_LIMIT_BYTES),
    },
  ],
  exports: [Database, ConversationsRepository, ...bounded, ...repositories],
})
export class DatabaseModule {}
