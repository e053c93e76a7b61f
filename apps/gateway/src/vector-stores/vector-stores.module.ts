import { createLogger, loadProfile } from '#platform/service-kit';
import { FilesRepository, IndexingLeasesRepository, VectorStoresRepository } from '#platform/storage';
import {
  Inject,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { FilesModule } from '../files/files.module.js';
import { AttachedFilesController, FileBatchesController } from './attached-files.controller.js';
import { AttachedFilesService } from './attached-files.service.js';
import { chunkingDefaults } from './vector-store.requests.js';
import { FileIndexer, FileIngest } from './file-indexer.js';
import { VectorStoreSearch } from './vector-store-search.js';
import { VectorStoresController } from './vector-stores.controller.js';

const expireEveryMs = 60_000;

/** Removes expired files, the content of expired vector stores, and leftovers of crashed processes. */
@Injectable()
class Expiry implements OnModuleInit, BeforeApplicationShutdown {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(VectorStoresRepository) private readonly stores: VectorStoresRepository,
    @Inject(IndexingLeasesRepository) private readonly leases: IndexingLeasesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  onModuleInit(): void {
    const logger = createLogger('gateway', this.environment.LOG_LEVEL);
    const attempt = () =>
      void this.removeExpired().catch((error: unknown) =>
        logger.warn({ err: error as Error }, 'could not remove expired files'),
      );
    attempt();
    this.#timer = setInterval(attempt, expireEveryMs).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  async removeExpired(): Promise<void> {
    await this.files.deleteExpired();
    await this.stores.emptyExpired();
    await this.leases.deleteOrphans();
  }
}

/** Vector stores: files that are indexed and searched. */
@Module({
  imports: [FilesModule],
  controllers: [AttachedFilesController, FileBatchesController, VectorStoresController],
  providers: [
    FileIngest,
    FileIndexer,
    AttachedFilesService,
    VectorStoreSearch,
    Expiry,
    {
      provide: chunkingDefaults,
      inject: [gatewayEnvironment],
      useFactory: ({ MEGANEST_PROFILE }: GatewayEnvironment) => loadProfile(MEGANEST_PROFILE).chunking,
    },
  ],
  exports: [VectorStoreSearch],
})
export class VectorStoresModule {}
