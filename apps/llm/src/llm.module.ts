import {
  complete,
  countPromptTokens,
  describeLlmModel,
  detokenize,
  generate,
  summarize,
  tokenize,
  writeFaq,
  writeSearchQueries,
  type GenerationChunk,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
} from '#platform/contracts';
import { MessagingModule, ObjectStore, RpcHandler, RpcServer, type RpcContext } from '#platform/messaging';
import { loadProfile, messagingOptions, ServiceKitModule, type ServiceIdentity } from '#platform/service-kit';
import { Controller, Inject, Module, type DynamicModule } from '@nestjs/common';
import { Library } from './library.js';
import { LlmController } from './llm.controller.js';
import { llmSettings, selectSettings, type LlmEnvironment } from './llm.environment.js';
import { LlmService } from './llm.service.js';
import { loadImages } from './load-images.js';
import { answererToken, openAnswerer } from './open-answerer.js';
import { generatorToken, openGenerator, type LlmGenerator } from './open-generator.js';
import { RawService } from './raw/raw.service.js';
import { WritingService } from './writing/writing.service.js';

@Controller()
export class LlmRpcController {
  constructor(
    @Inject(LlmService) private readonly llm: LlmService,
    @Inject(WritingService) private readonly writing: WritingService,
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
    const { signal, callOptions } = context;
    const { documents = [], reads_whole } = request;
    if (reads_whole && documents.length > 0) {
      const asked = { ...request, messages, documents, reads_whole };
      return this.writing.readWhole(asked, { ...callOptions, signal });
    }
    return this.llm.generate({ ...request, messages }, signal, callOptions.traceparent);
  }

  @RpcHandler(countPromptTokens)
  async countTokens(
    request: ParsedRequestOf<typeof countPromptTokens>,
  ): Promise<ReplyOf<typeof countPromptTokens>> {
    const messages = await loadImages(request.messages, this.objects);
    return this.llm.countTokens({ ...request, messages });
  }

  @RpcHandler(describeLlmModel)
  describe(): ModelInfo {
    return this.llm.model;
  }
}

@Controller()
export class RawRpcController {
  constructor(@Inject(RawService) private readonly raw: RawService) {}

  @RpcHandler(complete)
  complete(
    request: ParsedRequestOf<typeof complete>,
    { callOptions, signal }: RpcContext,
  ): AsyncIterable<GenerationChunk> {
    return this.raw.complete(request, signal, callOptions.traceparent);
  }

  @RpcHandler(tokenize)
  tokenize(request: ParsedRequestOf<typeof tokenize>): Promise<ReplyOf<typeof tokenize>> {
    return this.raw.tokenize(request);
  }

  @RpcHandler(detokenize)
  detokenize(request: ParsedRequestOf<typeof detokenize>): Promise<ReplyOf<typeof detokenize>> {
    return this.raw.detokenize(request);
  }
}

@Controller()
export class WritingRpcController {
  constructor(@Inject(WritingService) private readonly writing: WritingService) {}

  @RpcHandler(summarize)
  summarize(
    request: ParsedRequestOf<typeof summarize>,
    { callOptions, signal }: RpcContext,
  ): AsyncIterable<GenerationChunk> {
    return this.writing.summarize(request, { ...callOptions, signal });
  }

  @RpcHandler(writeFaq)
  faq(
    request: ParsedRequestOf<typeof writeFaq>,
    { callOptions, signal }: RpcContext,
  ): AsyncIterable<GenerationChunk> {
    return this.writing.writeFaq(request, { ...callOptions, signal });
  }

  @RpcHandler(writeSearchQueries)
  searchQueries(
    request: ParsedRequestOf<typeof writeSearchQueries>,
    { signal }: RpcContext,
  ): Promise<ReplyOf<typeof writeSearchQueries>> {
    return this.writing.searchQueries(request, signal);
  }
}

export const identity: ServiceIdentity = {
  service: 'llm',
  title: 'opea_service@llm',
  description: 'Writes answers, from passages if the request has some.',
  wrongMethodTexts: { '/v1/chat/completions': 'The request of LLM generation fails.' },
};

@Module({})
export class LlmModule {
  static register(environment: LlmEnvironment): DynamicModule {
    const profile = loadProfile(environment.MEGANEST_PROFILE);
    return {
      module: LlmModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
      controllers: [LlmController, LlmRpcController, RawRpcController, WritingRpcController],
      providers: [
        { provide: generatorToken, useFactory: () => openGenerator(environment, profile) },
        { provide: llmSettings, useValue: selectSettings(profile, environment) },
        {
          provide: answererToken,
          useFactory: (generator: LlmGenerator, library: Library) =>
            openAnswerer(environment, profile, { generator, library }),
          inject: [generatorToken, Library],
        },
        Library,
        LlmService,
        RawService,
        WritingService,
      ],
    };
  }
}
