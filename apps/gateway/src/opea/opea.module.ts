import { healthMethod } from '#platform/contracts';
import { asyncApiDocument } from '#platform/messaging';
import { ApiOperation, version } from '#platform/service-kit';
import { Controller, Get, Module } from '@nestjs/common';
import { z } from 'zod';
import { AudioModule } from '../audio/audio.module.js';
import { ChatModule } from '../chat/chat.module.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { Cluster, ReceiptsRpcController, rpcMethods } from './cluster.js';
import { ListController } from './list.controller.js';
import { MegaServiceController, MegaServicePaths } from './mega-service.controller.js';
import { ReceiptsController } from './receipts.controller.js';
import { Threads } from './threads.js';

/** All methods of the contracts. One `health` method represents the `health` methods of all services. */
const methods = [...rpcMethods, healthMethod('embedding')];

/** Serves the description of the messages between the services. */
@Controller()
export class AsyncApiController {
  @Get('asyncapi.json')
  @ApiOperation({
    summary: 'Get the AsyncAPI document of the services',
    answer: z.looseObject({ asyncapi: z.string() }),
  })
  asyncApi() {
    return asyncApiDocument(methods, version);
  }
}

/** Lists of mega services, receipts, and mega services at the paths of their files. */
@Module({
  imports: [AudioModule, ChatModule, MegaServicesModule],
  controllers: [
    ListController,
    ReceiptsController,
    ReceiptsRpcController,
    AsyncApiController,
    MegaServiceController,
  ],
  providers: [MegaServicePaths, Cluster, Threads],
})
export class OpeaModule {}
