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
  type ParsedRequestOf,
  type ReplyOf,
} from '#platform/contracts';
import { ObjectStore, RpcHandler, RpcServer, type RpcContext } from '#platform/messaging';
import { Controller, Inject } from '@nestjs/common';
import { ServedModels } from './engines/served-models.js';
import { loadImages } from './load-images.js';

/** Answers calls with the model that they name, or mean. */
@Controller()
export class LlmRpcController {
  constructor(
    @Inject(ServedModels) private readonly models: ServedModels,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(RpcServer) server: RpcServer,
  ) {
    server.announceModels(() => models.ids);
  }

  @RpcHandler(generate)
  async generate(
    { model, ...request }: ParsedRequestOf<typeof generate>,
    context: RpcContext,
  ): Promise<AsyncIterable<GenerationChunk>> {
    const messages = await loadImages(request.messages, this.objects);
    const { signal, callOptions } = context;
    const { documents = [], reads_whole } = request;
    return this.models.generate(model, context.model, ({ llm, writing }) => {
      if (reads_whole && documents.length > 0) {
        const asked = { ...request, messages, documents, reads_whole };
        return writing.readWhole(asked, { ...callOptions, signal });
      }
      return llm.generate({ ...request, messages }, signal, callOptions.traceparent);
    });
  }

  @RpcHandler(countPromptTokens)
  async countTokens(
    { model, ...request }: ParsedRequestOf<typeof countPromptTokens>,
    context: RpcContext,
  ): Promise<ReplyOf<typeof countPromptTokens>> {
    const messages = await loadImages(request.messages, this.objects);
    return this.models.find(model, context.model).llm.countTokens({ ...request, messages });
  }

  @RpcHandler(describeLlmModel)
  describe(_request: object, context: RpcContext): Promise<ReplyOf<typeof describeLlmModel>> {
    return this.models.describe(context.model);
  }
}

/** Completions of prompts, and tokens. */
@Controller()
export class RawRpcController {
  constructor(@Inject(ServedModels) private readonly models: ServedModels) {}

  @RpcHandler(complete)
  complete(
    { model, ...request }: ParsedRequestOf<typeof complete>,
    { callOptions, signal, model: meant }: RpcContext,
  ): AsyncIterable<GenerationChunk> {
    return this.models.generate(model, meant, ({ raw }) =>
      raw.complete(request, signal, callOptions.traceparent),
    );
  }

  @RpcHandler(tokenize)
  tokenize(
    { model, ...request }: ParsedRequestOf<typeof tokenize>,
    context: RpcContext,
  ): Promise<ReplyOf<typeof tokenize>> {
    return this.models.find(model, context.model).raw.tokenize(request);
  }

  @RpcHandler(detokenize)
  detokenize(
    { model, ...request }: ParsedRequestOf<typeof detokenize>,
    context: RpcContext,
  ): Promise<ReplyOf<typeof detokenize>> {
    return this.models.find(model, context.model).raw.detokenize(request);
  }
}

/** Texts about texts. */
@Controller()
export class WritingRpcController {
  constructor(@Inject(ServedModels) private readonly models: ServedModels) {}

  @RpcHandler(summarize)
  summarize(
    { model, ...request }: ParsedRequestOf<typeof summarize>,
    { callOptions, signal, model: meant }: RpcContext,
  ): AsyncIterable<GenerationChunk> {
    return this.models.generate(model, meant, ({ writing }) =>
      writing.summarize(request, { ...callOptions, signal }),
    );
  }

  @RpcHandler(writeFaq)
  faq(
    { model, ...request }: ParsedRequestOf<typeof writeFaq>,
    { callOptions, signal, model: meant }: RpcContext,
  ): AsyncIterable<GenerationChunk> {
    return this.models.generate(model, meant, ({ writing }) =>
      writing.writeFaq(request, { ...callOptions, signal }),
    );
  }

  @RpcHandler(writeSearchQueries)
  searchQueries(
    request: ParsedRequestOf<typeof writeSearchQueries>,
    { signal, model: meant }: RpcContext,
  ): Promise<ReplyOf<typeof writeSearchQueries>> {
    return this.models.find(undefined, meant).writing.searchQueries(request, signal);
  }
}
