import { loadProfile } from '#service-kit';
import { Module } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { FilesModule } from '../files/files.module.js';
import { AttachedFilesController } from './attached-files.controller.js';
import { AttachedFilesService } from './attached-files.service.js';
import { chunkingDefaults } from './chunking-strategy.js';
import { Expiry } from './expiry.js';
import { FileBatchesController } from './file-batches.controller.js';
import { FileIndexer } from './file-indexer.js';
import { FileIngest } from './file-ingest.js';
import { VectorStoreSearch } from './vector-store-search.js';
import { VectorStoresController } from './vector-stores.controller.js';
import { VectorStoresService } from './vector-stores.service.js';

/** Vector stores: files that are indexed and searched. */
@Module({
  imports: [FilesModule],
  controllers: [AttachedFilesController, FileBatchesController, VectorStoresController],
  providers: [
    FileIngest,
    FileIndexer,
    AttachedFilesService,
    VectorStoresService,
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
