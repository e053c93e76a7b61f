import { randomUUID } from 'node:crypto';
import { generate, MegaNestError, type GenerationChunk } from '#contracts';
import { pickParameters, type MegaServiceDefinition, type RunReceipt } from '#dag';
import { RpcClient } from '#messaging';
import { ignoredFields, type ChatCompletionRequest, type CompletionIdentity } from '#openai-api';
import { Metrics, type HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { MegaServiceCatalog } from '../megaservice/mega-service-catalog.js';
import { MegaServiceRunner } from '../megaservice/mega-service-runner.js';
import { measureStream } from './measure-stream.js';
import { ModelCatalog } from './model-catalog.js';

/** A chat under way: its chunks, and what its bodies and headers need to know. */
export interface ChatRun {
  identity: CompletionIdentity;
  chunks: AsyncIterable<GenerationChunk>;
  /** Fields of the request without effect, for `x-meganest-ignored`. */
  ignored: string[];
  /** Where the time went, for mega services. */
  receipt?: () => RunReceipt;
}

/** Answers a conversation through a mega service or straight from the language model. */
@Injectable()
export class ChatService {
  constructor(
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceRunner) private readonly runner: MegaServiceRunner,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** `model` absent: the default mega service; a mega service's name: that one; the LLM's name: the LLM. */
  async start(request: ChatCompletionRequest, call: HttpCall): Promise<ChatRun> {
    const definition = request.model ? this.megaServices.find(request.model) : this.megaServices.default();
    return definition ? this.runMegaService(definition, request, call) : this.#generate(request, call);
  }

  runMegaService(definition: MegaServiceDefinition, request: ChatCompletionRequest, call: HttpCall): ChatRun {
    const parameters = pickParameters(definition, { ...request.extra, ...request.parameters });
    const ignored = ignoredFields(request.extra, new Set(Object.keys(parameters)));
    const { chunks, documents, receipt } = this.runner.run(definition, request.messages, parameters, call);
    const identity = { ...newIdentity(definition.name), documents };
    return { identity, ignored, receipt, chunks: measureStream(this.metrics, definition.name, chunks) };
  }

  async #generate(request: ChatCompletionRequest, call: HttpCall): Promise<ChatRun> {
    const info = await this.models.llm(call);
    if (request.model !== info.id) throw this.#unknownModel(request.model ?? '', info.id);
    const ignored = ignoredFields(request.extra);
    const chunks = this.client.stream(generate, { ...request.parameters, messages: request.messages }, call);
    const identity = { ...newIdentity(info.id), revision: info.revision };
    return { identity, ignored, chunks: measureStream(this.metrics, 'llm', chunks) };
  }

  #unknownModel(model: string, llm: string): MegaNestError {
    const available = [...this.megaServices.list().map(({ name }) => name), llm].join(', ');
    return new MegaNestError('model_not_found', { model, available, param: 'model' });
  }
}

function newIdentity(model: string): CompletionIdentity {
  return {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model,
  };
}
