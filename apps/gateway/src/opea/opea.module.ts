import { Module } from '@nestjs/common';
import { AudioModule } from '../audio/audio.module.js';
import { ChatModule } from '../chat/chat.module.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { AsyncApiController } from './async-api.controller.js';
import { ListController } from './list.controller.js';
import { MegaServicePaths } from './mega-service-paths.js';
import { MegaServiceController } from './mega-service.controller.js';
import { ReceiptsController } from './receipts.controller.js';

/** Listings, run reports, and mega services under the paths of their files. */
@Module({
  imports: [AudioModule, ChatModule, MegaServicesModule],
  controllers: [ListController, ReceiptsController, AsyncApiController, MegaServiceController],
  providers: [MegaServicePaths],
})
export class OpeaModule {}
