import { healthMethod } from '#contracts';
import { asyncApiDocument } from '#messaging';
import { ApiOperation, version } from '#service-kit';
import { Controller, Get, Module } from '@nestjs/common';
import { z } from 'zod';
import { AudioModule } from '../audio/audio.module.js';
import { ChatModule } from '../chat/chat.module.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { Cluster, ReceiptsRpcController, rpcMethods } from './cluster.js';
import { ListController } from './list.controller.js';
import { MegaServiceController, MegaServicePaths } from './mega-service.controller.js';
import { ReceiptsController } from './receipts.controller.js';

/** Every method of the contracts; `health` stands for that of all services. */
const methods = [...rpcMethods, healthMethod('embedding')];

/** The description of what the services say to each other. */
@Controller()
export class AsyncApiController {
  @Get('asyncapi.json')
  @ApiOperation({
    summary: 'The AsyncAPI document of the services over NATS',
    answer: z.looseObject({ asyncapi: z.string() }),
  })
  asyncApi() {
    return asyncApiDocument(methods, version);
  }
}

/** Listings, run reports, and mega services under the paths of their files. */
@Module({
  imports: [AudioModule, ChatModule, MegaServicesModule],
  controllers: [
    ListController,
    ReceiptsController,
    ReceiptsRpcController,
    AsyncApiController,
    MegaServiceController,
  ],
  providers: [MegaServicePaths, Cluster],
})
export class OpeaModule {}
