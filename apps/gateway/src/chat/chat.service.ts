import type { ChatCompletionRequest } from '#api/openai-api';
import type { MegaServiceDefinition } from '#platform/dag';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { assertGivesAnswers, assertSearchable } from '../mega-services/definition-checks.js';
import type { Attachments } from '../mega-services/mega-service-runner.js';
import type { ChatModel, ChatRun } from './chat-model.js';
import { LanguageModels } from './language-model.js';
import { MegaServiceModels } from './mega-service-model.js';
import { ModelDirectory } from './model-directory.js';
import type { OpenedModel } from './opened-model.js';
import { ToolChats } from './tool-chats.js';

/** Answers a chat with the mega service or the language model that the request names. */
@Injectable()
export class ChatService {
  constructor(
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
    @Inject(MegaServiceModels) private readonly megaServices: MegaServiceModels,
    @Inject(LanguageModels) private readonly languageModels: LanguageModels,
    @Inject(ToolChats) private readonly toolChats: ToolChats,
  ) {}

  /**
   * Starts an answer of the model that the request names. Errors: the errors of {@link ModelDirectory.open} and
   * {@link prepare}. Errors of the generation are thrown while the chunks are read.
   */
  async start(request: ChatCompletionRequest, call: HttpCall): Promise<ChatRun> {
    return this.startWith(await this.directory.open(request.model, call), request, call);
  }

  /** Starts an answer of an opened model. */
  async startWith(opened: OpenedModel, request: ChatCompletionRequest, call: HttpCall): Promise<ChatRun> {
    this.toolChats.assertServed(request);
    const model = this.prepare(opened, request);
    const readable = await model.readFiles(request, call);
    const runsTools = readable.serverTools !== undefined && !model.isMegaService && model.callsTools;
    return runsTools ? this.toolChats.start(model, readable, call) : model.start(readable, call);
  }

  /**
   * Prepares an opened model for a request that it can answer. `toolsFollow`: this request has no tools yet, but the
   * request that is started has some. Errors: model_not_found, unsupported_parameter, invalid_request,
   * service_unavailable.
   */
  prepare(opened: OpenedModel, request: ChatCompletionRequest, toolsFollow = false): ChatModel {
    const { definition } = opened;
    if (!definition) return this.languageModels.prepare(opened, request);
    assertGivesAnswers(definition);
    assertSearchable(definition, request.messages);
    return this.megaServices.prepare(opened, definition, request, toolsFollow);
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
    const opened = await this.directory.openMegaService(definition, call);
    return this.megaServices.prepare(opened, definition, request).start(request, call, attachments);
  }
}
