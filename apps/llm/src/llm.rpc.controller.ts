import {
  countPromptTokens,
  describeLlmModel,
  generate,
  type GenerationChunk,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
} from '#contracts';
import { ObjectStore, RpcHandler, RpcServer, type RpcContext } from '#messaging';
import { Controller, Inject } from '@nestjs/common';
import { LlmService } from './llm.service.js';
import { loadImages } from './load-images.js';

@Controller()
export class LlmRpcController {
  constructor(
    @Inject(LlmService) private readonly llm: LlmService,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(RpcServer) server: RpcServer,
  ) {
    server.announceModels(() => [llm.model.id]);
  }

  @RpcHandler(generate)
  async generate(
    request: ParsedRequestOf<typeof generate>,
    context: RpcContext,
  ): Promise<AsyncIterable<GenerationChunk>> {
    const messages = await loadImages(request.messages, this.objects);
    return this.llm.generate({ ...request, messages }, context.signal, context.callOptions.traceparent);
  }

  @RpcHandler(countPromptTokens)
  countTokens(
    request: ParsedRequestOf<typeof countPromptTokens>,
  ): Promise<ReplyOf<typeof countPromptTokens>> {
    return this.llm.countTokens(request);
  }

  @RpcHandler(describeLlmModel)
  describe(): ModelInfo {
    return this.llm.model;
  }
}
