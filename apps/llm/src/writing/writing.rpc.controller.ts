import {
  condense,
  summarise,
  writeFaq,
  type GenerationChunk,
  type ParsedRequestOf,
  type ReplyOf,
} from '#contracts';
import { RpcHandler, type RpcContext } from '#messaging';
import { Controller, Inject } from '@nestjs/common';
import { WritingService } from './writing.service.js';

@Controller()
export class WritingRpcController {
  constructor(@Inject(WritingService) private readonly writing: WritingService) {}

  @RpcHandler(summarise)
  summarise(
    request: ParsedRequestOf<typeof summarise>,
    { callOptions, signal }: RpcContext,
  ): AsyncIterable<GenerationChunk> {
    return this.writing.summarise(request, { ...callOptions, signal });
  }

  @RpcHandler(writeFaq)
  faq(
    request: ParsedRequestOf<typeof writeFaq>,
    { callOptions, signal }: RpcContext,
  ): AsyncIterable<GenerationChunk> {
    return this.writing.writeFaq(request, { ...callOptions, signal });
  }

  @RpcHandler(condense)
  condense(
    { messages }: ParsedRequestOf<typeof condense>,
    { signal }: RpcContext,
  ): Promise<ReplyOf<typeof condense>> {
    return this.writing.condense(messages, signal);
  }
}
