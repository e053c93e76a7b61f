import { loadProfile } from '#service-kit';
import {
  Database,
  FilesRepository,
  IndexingLeasesRepository,
  UploadsRepository,
  VectorStoreFilesRepository,
  VectorStoresRepository,
} from '#storage';
import type { Provider } from '@nestjs/common';
import { FileContents } from '../files/file-contents.js';
import { FilesController } from '../files/files.controller.js';
import { FilesService } from '../files/files.service.js';
import { UploadsController } from '../files/uploads.controller.js';
import { UploadsService } from '../files/uploads.service.js';
import type { GatewayEnvironment } from '../config/gateway.environment.js';
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

export const filesControllers = [
  FilesController,
  UploadsController,
  AttachedFilesController,
  FileBatchesController,
  VectorStoresController,
];

const repositories = [
  FilesRepository,
  UploadsRepository,
  VectorStoresRepository,
  VectorStoreFilesRepository,
  IndexingLeasesRepository,
].map((provide) => ({
  provide,
  inject: [Database],
  useFactory: (database: Database) => new provide(database),
}));

/** Files and vector stores, on the gateway's database. */
export function filesProviders(environment: GatewayEnvironment): Provider[] {
  return [
    ...repositories,
    { provide: chunkingDefaults, useValue: loadProfile(environment.MEGANEST_PROFILE).chunking },
    FileContents,
    FilesService,
    UploadsService,
    FileIngest,
    FileIndexer,
    AttachedFilesService,
    VectorStoresService,
    VectorStoreSearch,
    Expiry,
  ];
}
