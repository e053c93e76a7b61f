import { MegaNestError } from '#platform/contracts';
import type { MegaServiceDefinition } from '#platform/dag';
import {
  chatToolParam,
  namingFormParams,
  namingToolParams,
  type ChatCompletionRequest,
} from '#api/openai-api';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import type { Attachments } from '../mega-services/mega-service-runner.js';
import { assertGivesAnswers, assertSearchable, givesAnswers } from '../mega-services/definition-checks.js';
import { ModelCatalog, type ResolvedModel } from '../models/model-catalog.js';
import type { ChatModel, ChatRun } from './chat-model.js';
import { LanguageModels } from './language-model.js';
import { MegaServiceModels } from './mega-service-model.js';

/** A request whose model is resolved: see {@link ModelCatalog.resolve}. */
export interface ResolvedChat extends ChatCompletionRequest {
  /** The caller names the model itself and not an alias, so that no other model may answer. */
  isNamed?: boolean;
}

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
   * Starts an answer. Errors: the errors of {@link resolve} and {@link open}. Errors of the generation are thrown while
   * the chunks are read.
   */
  async start(request: ChatCompletionRequest, call: HttpCall): Promise<ChatRun> {
    return this.startResolved(await this.resolve(request, call), call);
  }

  /** Starts an answer of the model that the server itself, or {@link resolve}, has chosen. */
  async startResolved(request: ResolvedChat, call: HttpCall): Promise<ChatRun> {
    const model = await this.open(request, call);
    const asked = await model.readFiles(request, call);
    const runsTools = asked.serverTools !== undefined && !model.isMegaService && model.callsTools;
    const run = runsTools
      ? this.languageModels.toolChats.start(model, asked, call)
      : model.start(asked, call);
    let { chunks } = run;
    if (request.tools) chunks = namingToolParams(chunks, chatToolParam);
    if (request.formField) chunks = namingFormParams(chunks, request.formField);
    return { ...run, chunks };
  }

  /**
   * Resolves the name of a request's model, and checks that the caller may use it. Each request is resolved once.
   * Errors: service_unavailable, insufficient_scope.
   */
  async resolve<Request extends { model?: string | undefined }>(
    request: Request,
    call: HttpCall,
  ): Promise<Request & ResolvedModel> {
    const isMegaService = (name: string) => this.megaServices.find(name) !== undefined;
    return { ...request, ...(await this.models.resolve(request.model, 'answers', call, isMegaService)) };
  }

  /** The mega service of a resolved name, the default one without a name; undefined if a language model answers. */
  megaServiceOf(model: string | undefined): MegaServiceDefinition | undefined {
    return model ? this.megaServices.find(model) : this.megaServices.default();
  }

  /**
   * Opens the model of a request: a mega service or a language model; the default mega service if `model` is absent.
   * `toolsFollow`: this request has no tools yet, but the request that is started has some.
   * Errors: model_not_found, unsupported_parameter, service_unavailable.
   */
  async open(request: ResolvedChat, call: HttpCall, toolsFollow = false): Promise<ChatModel> {
    const definition = this.megaServiceOf(request.model);
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
    return this.languageModels.open(info, request, { isNamed: request.isNamed === true });
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
