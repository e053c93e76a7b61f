import {
  describeTtsModel,
  healthMethod,
  synthesize,
  type ParsedRequestOf,
  type SpeechChunk,
  type TtsInfo,
} from '#contracts';
import { RpcHandler, type RpcContext } from '#messaging';
import { HealthRegistry } from '#service-kit';
import { Controller, Inject } from '@nestjs/common';
import { TtsService } from './tts.service.js';

@Controller()
export class TtsRpcController {
  constructor(
    @Inject(TtsService) private readonly tts: TtsService,
    @Inject(HealthRegistry) private readonly health: HealthRegistry,
  ) {}

  @RpcHandler(synthesize)
  synthesize(
    request: ParsedRequestOf<typeof synthesize>,
    { signal }: RpcContext,
  ): AsyncGenerator<SpeechChunk, void, void> {
    return this.tts.synthesize(request, signal);
  }

  @RpcHandler(describeTtsModel)
  describe(): TtsInfo {
    return this.tts.model;
  }

  @RpcHandler(healthMethod('tts'))
  report() {
    return this.health.report();
  }
}
