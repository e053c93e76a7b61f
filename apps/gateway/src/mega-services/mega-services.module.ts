import { Module } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { ImageStoreModule } from '../input-files/image-store.js';
import { ModelsModule } from '../models/model-catalog.js';
import { MegaServiceBody } from './mega-service-body.js';
import { MegaServiceCatalog } from './mega-service-catalog.js';
import { MegaServiceOutputs } from './mega-service-outputs.js';
import { MegaServiceRunner } from './mega-service-runner.js';
import { AnnouncedServices } from './nodes/announced-services.js';
import { NodeCaller } from './nodes/node-caller.js';
import { ReceiptStore } from './receipt-store.js';
import { CitedBefore } from './search/cited-before.js';
import { DocumentLanguages } from './search/document-languages.js';
import { QueryWriter } from './search/query-writer.js';
import { SearchPlans } from './search/search-plans.js';

/** Limits of the receipts in memory: the last thousand of an hour. */
const receiptBounds = { maxCount: 1_000, maxBytes: 8 * 2 ** 20, maxAgeMs: 3_600_000 };

/** Mega services: their files, nodes, runs and receipts. */
@Module({
  imports: [ModelsModule, ImageStoreModule],
  providers: [
    AnnouncedServices,
    NodeCaller,
    CitedBefore,
    DocumentLanguages,
    QueryWriter,
    SearchPlans,
    MegaServiceRunner,
    MegaServiceBody,
    MegaServiceOutputs,
    {
      provide: MegaServiceCatalog,
      inject: [gatewayEnvironment, AnnouncedServices],
      useFactory: (environment: GatewayEnvironment, announced: AnnouncedServices) =>
        MegaServiceCatalog.open(environment, announced),
    },
    { provide: ReceiptStore, useFactory: () => new ReceiptStore(receiptBounds) },
  ],
  exports: [
    AnnouncedServices,
    MegaServiceCatalog,
    MegaServiceRunner,
    MegaServiceBody,
    MegaServiceOutputs,
    ReceiptStore,
  ],
})
export class MegaServicesModule {}
