import { synthesize, type ParsedRequestOf, type SpeechChunk } from '#platform/contracts';
import { RpcHandler, type RpcContext } from '#platform/messaging';
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
}
