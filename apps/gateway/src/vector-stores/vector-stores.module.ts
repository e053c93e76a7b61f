import { loadProfile } from '#service-kit';
import { Module } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { FilesModule } from '../files/files.module.js';
import { AttachedFilesController, FileBatchesController } from './attached-files.controller.js';
import { AttachedFilesService } from './attached-files.service.js';
import { chunkingDefaults } from './vector-store.requests.js';
import { Expiry } from './expiry.js';
import { FileIndexer, FileIngest } from './file-indexer.js';
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
