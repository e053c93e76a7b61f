import {
  describeTtsModel,
  synthesize,
  type ParsedRequestOf,
  type SpeechChunk,
  type TtsInfo,
} from '#contracts';
import { RpcHandler, type RpcContext } from '#messaging';
import { Controller, Inject } from '@nestjs/common';
import { TtsService } from './tts.service.js';

@Controller()
export class TtsRpcController {
  constructor(@Inject(TtsService) private readonly tts: TtsService) {}

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
}
