import {
  type ChatMessage,
  generate,
  type GenerationChunk,
  ImageBudget,
  MegaNestError,
  type ModelInfo,
  type RequestOf,
  type TemplateVariables,
} from '#contracts';
import { ObjectStore, RpcClient } from '#messaging';
import { callableTools, type ChatCompletionRequest, ignoredFields, unusedLabels } from '#openai-api';
import { guardedFetch, type HttpCall, measureGeneration, Metrics } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { imageOfDataUrl, imageTypeOf } from '../input-files/input-files.js';
import { affinityOf } from '../mega-services/mega-service-request.js';
import {
  assertTakesImages,
  type ChatModel,
  type ChatRun,
  modalitiesOf,
  newIdentity,
  planThinking,
  unfollowedPrompts,
} from './chat-model.js';

type ChatImage = NonNullable<ChatMessage['images']>[number];

/**
 * Opens language models for chats, and calls them. Images go through the object store, because a NATS message is too
 * small for them.
 */
@Injectable()
export class LanguageModels {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** Opens a language model for a request. Errors: the errors of the constructor of {@link LanguageModel}. */
  open(info: ModelInfo, request: ChatCompletionRequest, { isNamed }: { isNamed: boolean }): LanguageModel {
    return new LanguageModel(info, request, { client: this, metrics: this.metrics, isNamed });
  }

  /**
   * Generates an answer. Errors are thrown while the chunks are read: the errors of the model; for images
   * invalid_request, unsupported_file, payload_too_large, forbidden_url and unreachable_url, each with the path of the
   * image.
   */
  async *generate(request: ChatCompletionRequest, call: HttpCall): AsyncGenerator<GenerationChunk> {
    const stored: string[] = [];
    const budget = new ImageBudget();
    try {
      const messages: ChatMessage[] = [];
      for (const message of request.messages) {
        const { images, ...rest } = message;
        if (!images) messages.push(message);
        else messages.push({ ...rest, images: await this.#store(images, { stored, budget }, call) });
      }
      const affinity = affinityOf(messages, request.labels?.prompt_cache_key);
      yield* this.client.stream(generate, generateRequest({ ...request, messages }), { ...call, affinity });
    } finally {
      await Promise.allSettled(stored.map((id) => this.objects.delete(id)));
    }
  }

  /** Stores the images one after the other, so that the memory stays within the limit of all images together. */
  async #store(
    images: readonly ChatImage[],
    { stored, budget }: { stored: string[]; budget: ImageBudget },
    call: HttpCall,
  ): Promise<ChatImage[]> {
    const { UPLOAD_FILE_LIMIT_BYTES: maxBytes } = this.environment;
    const sent: ChatImage[] = [];
    for (const { url = '', detail, at, param = 'messages' } of images) {
      const bytes = await budget.load({ param, maxBytes }, (most) => this.#load(url, param, most, call));
      const mimeType = imageTypeOf(bytes, param);
      const file = await this.objects.put(bytes, { filename: 'image', mimeType });
      stored.push(file.objectId);
      sent.push({ file, ...(detail !== undefined && { detail }), ...(at !== undefined && { at }) });
    }
    return sent;
  }

  async #load(url: string, param: string, maxBytes: number, call: HttpCall): Promise<Uint8Array> {
    if (!url.startsWith('data:')) {
      const { ALLOW_PRIVATE_LINKS: allowPrivate, LINK_TIMEOUT_MS: timeoutMs } = this.environment;
      const options = { maxBytes, timeoutMs, allowPrivate, param, signal: call.signal };
      return (await guardedFetch(url, options)).bytes;
    }
    const bytes = imageOfDataUrl(url, param);
    if (bytes.length <= maxBytes) return bytes;
    throw new MegaNestError('payload_too_large', { what: 'The image', limit: `${maxBytes} bytes`, param });
  }
}

function generateRequest(request: ChatCompletionRequest): RequestOf<typeof generate> {
  const {
    model,
    parameters,
    messages,
    tools,
    toolChoice,
    parallelToolCalls,
    chatTemplateKwargs,
    documents,
    labels,
    stream,
  } = request;
  return {
    ...parameters,
    model,
    messages,
    tools,
    tool_choice: toolChoice,
    parallel_tool_calls: parallelToolCalls,
    chat_template_kwargs: chatTemplateKwargs,
    documents,
    ...(documents && messages.at(-1)?.role === 'tool' && { documents_told: true }),
    labels,
    ...(stream !== true && { whole: true }),
  };
}

/** A language model as the model of a chat, without a mega service. */
export class LanguageModel implements ChatModel {
  readonly isMegaService = false;
  readonly languageModel: string;
  readonly callsTools: boolean;
  readonly takesImages: boolean;
  readonly ignored: readonly string[];
  readonly #thinking: TemplateVariables | undefined;

  /**
   * `isNamed`: the caller names this model, so that no other model may answer. Errors: unsupported_parameter for images
   * that the model does not accept; invalid_request and payload_too_large for too many or too large images.
   */
  constructor(
    private readonly info: ModelInfo,
    request: ChatCompletionRequest,
    private readonly services: { client: LanguageModels; metrics: Metrics; isNamed: boolean },
  ) {
    const modalities = modalitiesOf(info);
    assertTakesImages(request.messages, modalities);
    const thinking = planThinking(request, info);
    this.languageModel = info.id;
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
    const asked = {
      ...request,
      model: services.isNamed ? info.id : undefined,
      chatTemplateKwargs: this.#thinking,
    };
    const chunks = services.client.generate(asked, { ...call, model: info.id });
    const { legacyFunctions } = request;
    return {
      identity: { ...newIdentity(info.id), revision: info.revision, legacyFunctions },
      ignored: [...ignored],
      chunks: measureGeneration(services.metrics, 'llm', chunks, {
        countUsage: true,
        genAi: { side: 'client', model: info.id },
      }),
    };
  }
}
