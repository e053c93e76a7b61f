import { MegaNestError } from '#contracts';
import type { MegaServiceDefinition } from '#dag';
import { chatToolParam, namingFormParams, namingToolParams, type ChatCompletionRequest } from '#openai-api';
import type { HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import type { Attachments } from '../mega-services/mega-service-runner.js';
import { assertGivesAnswers, assertSearchable, givesAnswers } from '../mega-services/definition-checks.js';
import { ModelCatalog } from '../models/model-catalog.js';
import type { ChatModel, ChatRun } from './chat-model.js';
import { LanguageModels } from './language-model.js';
import { MegaServiceModels } from './mega-service-model.js';

/** Answers a chat with the mega service or the language model that the request names. */
@Injectable()
export class ChatService {
  constructor(
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceModels) private readonly megaServiceModels: MegaServiceModels,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(LanguageModels) private readonly languageModels: LanguageModels,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /**
   * Starts an answer. Errors: the errors of {@link open}. Errors of the generation are thrown while the chunks are
   * read.
   */
  async start(request: ChatCompletionRequest, call: HttpCall): Promise<ChatRun> {
    const model = await this.open(request, call);
    const run = model.start(request, call);
    let { chunks } = run;
    if (request.tools) chunks = namingToolParams(chunks, chatToolParam);
    if (request.formField) chunks = namingFormParams(chunks, request.formField);
    return { ...run, chunks };
  }

  /**
   * Opens the model that a request names: a mega service or a language model; the default mega service if `model` is
   * absent. `toolsFollow`: this request has no tools yet, but the request that is started has some.
   * Errors: model_not_found, unsupported_parameter, service_unavailable.
   */
  async open(asked: ChatCompletionRequest, call: HttpCall, toolsFollow = false): Promise<ChatModel> {
    const request = { ...asked, model: await this.models.named(asked.model, 'answers', call) };
    const definition = request.model ? this.megaServices.find(request.model) : this.megaServices.default();
    if (definition) {
      assertGivesAnswers(definition);
      assertSearchable(definition, request.messages);
      return this.megaServiceModels.open(definition, request, call, toolsFollow);
    }
    if (this.environment.MEGA_SERVICES_ONLY) throw this.#unknownModel(request.model ?? '');
    const { model = '' } = request;
    const info = await this.models.llmNamed(model, call);
    if (model !== info.id) {
      const served = await this.models.languageModels();
      throw this.#unknownModel(model, ...served.map(({ id }) => id));
    }
    return this.languageModels.open(info, request, { isNamed: model === asked.model });
  }

  /**
   * Starts a mega service. Errors: unsupported_parameter, invalid_request. Errors of the nodes are thrown while the
   * chunks are read.
   */
  async runMegaService(
    definition: MegaServiceDefinition,
    request: ChatCompletionRequest,
    call: HttpCall,
    attachments?: Attachments,
  ): Promise<ChatRun> {
    if (!attachments?.files?.length) assertSearchable(definition, request.messages);
    const model = await this.megaServiceModels.open(definition, request, call);
    return model.start(request, call, attachments);
  }

  #unknownModel(model: string, ...llm: string[]): MegaNestError {
    const megaServices = this.megaServices.list().filter(givesAnswers);
    const available = [...megaServices.map(({ name }) => name), ...llm].join(', ');
    return new MegaNestError('model_not_found', { model, available, param: 'model' });
  }
}
