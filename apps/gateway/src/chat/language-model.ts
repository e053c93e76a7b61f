import type { ModelInfo, TemplateVariables } from '#contracts';
import { callableTools, ignoredFields, unusedLabels, type ChatCompletionRequest } from '#openai-api';
import { measureGeneration, Metrics, type HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { newIdentity, unfollowedPrompts, type ChatModel, type ChatRun } from './chat-model.js';
import { LanguageModelClient } from './language-model.client.js';
import { assertTakesImages, modalitiesOf } from './modalities.js';
import { planThinking } from './plan-thinking.js';

/** The language model, asked without a mega service. */
export class LanguageModel implements ChatModel {
  readonly isMegaService = false;
  readonly callsTools: boolean;
  readonly takesImages: boolean;
  readonly ignored: readonly string[];
  readonly #thinking: TemplateVariables | undefined;

  /** Errors: unsupported_parameter for images that it does not read; invalid_request, payload_too_large of images. */
  constructor(
    private readonly info: ModelInfo,
    request: ChatCompletionRequest,
    private readonly services: { client: LanguageModelClient; metrics: Metrics },
  ) {
    const modalities = modalitiesOf(info);
    assertTakesImages(request.messages, modalities);
    const thinking = planThinking(request, info);
    this.callsTools = info.callsTools !== false;
    this.takesImages = modalities.includes('image');
    this.#thinking = thinking.kwargs;
    this.ignored = [
      ...ignoredFields(request.extra),
      ...thinking.ignored,
      ...unusedLabels(request.labels, info),
      ...unfollowedPrompts(request.messages, info),
      ...callableTools(request, info).ignored,
    ];
  }

  start(given: ChatCompletionRequest, call: HttpCall): ChatRun {
    const { info, services, ignored } = this;
    const { request } = callableTools(given, info);
    const chunks = services.client.generate({ ...request, chatTemplateKwargs: this.#thinking }, call);
    const { legacyFunctions } = request;
    return {
      identity: { ...newIdentity(info.id), revision: info.revision, legacyFunctions },
      ignored: [...ignored],
      chunks: measureGeneration(services.metrics, 'llm', chunks, { countUsage: true }),
    };
  }
}

/** Opens the language model for chats. */
@Injectable()
export class LanguageModels {
  constructor(
    @Inject(LanguageModelClient) private readonly client: LanguageModelClient,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** Errors: those of {@link LanguageModel}. */
  open(info: ModelInfo, request: ChatCompletionRequest): LanguageModel {
    const { client, metrics } = this;
    return new LanguageModel(info, request, { client, metrics });
  }
}
