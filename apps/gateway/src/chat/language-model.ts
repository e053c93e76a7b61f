import {
  asDocuments,
  generate,
  withoutFiles,
  type GenerationChunk,
  type ModelInfo,
  type RequestOf,
  type TemplateVariables,
} from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import {
  callableTools,
  type ChatCompletionRequest,
  ignoredFields,
  planThinking,
  unusedLabels,
} from '#api/openai-api';
import { type HttpCall, measureGeneration, Metrics } from '#platform/service-kit';
import { chatTaskOf, condenseQuestion } from '#answers/questions';
import { Inject, Injectable } from '@nestjs/common';
import { AttachedFiles, hasFiles, maxFilePassages } from '../input-files/attached-files.js';
import { ImageStore } from '../input-files/image-store.js';
import { affinityOf } from '../mega-services/mega-service-request.js';
import { withAddresses } from '../mega-services/page-address.js';
import {
  assertTakesImages,
  type ChatModel,
  type ChatRun,
  modalitiesOf,
  newIdentity,
  noteIgnored,
  unfollowedPrompts,
  unreadFiles,
} from './chat-model.js';
import type { OpenedModel } from './opened-model.js';

/** Prepares language models for chats, and calls them. */
@Injectable()
export class LanguageModels {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(ImageStore) private readonly images: Pick<ImageStore, 'lend'>,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(AttachedFiles) readonly attached: Pick<AttachedFiles, 'read'>,
  ) {}

  /**
   * Prepares a language model for a request. Errors: those of {@link OpenedModel.require} and of the constructor of
   * {@link LanguageModel}.
   */
  prepare(opened: OpenedModel, request: ChatCompletionRequest): LanguageModel {
    const { metrics } = this;
    return new LanguageModel(opened.require(), request, { client: this, metrics, isNamed: opened.isNamed });
  }

  /** Generates an answer. Errors are thrown while the chunks are read: see {@link ImageStore.lend}. */
  generate(request: ChatCompletionRequest, call: HttpCall): AsyncGenerator<GenerationChunk> {
    return this.images.lend(request.messages, call, (messages) => {
      const affinity = affinityOf(messages, request.labels?.prompt_cache_key);
      return this.client.stream(generate, generateRequest({ ...request, messages }), { ...call, affinity });
    });
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
    neighbours,
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
    ...(neighbours && neighbours.length > 0 && { neighbours }),
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
  readonly maxFilePassages: number | undefined;
  readonly degraded: Set<string>;
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
    const quotes = info.quotesDocuments === true && !request.parameters.constraint;
    this.maxFilePassages = quotes ? maxFilePassages(info) : undefined;
    this.degraded = unreadFiles(request.messages, this.maxFilePassages);
    this.#thinking = thinking.kwargs;
    this.ignored = [
      ...ignoredFields(request.extra),
      ...thinking.ignored,
      ...unusedLabels(request.labels, info),
      ...unfollowedPrompts(request.messages, info),
      ...callableTools(request, info, true).ignored,
    ];
  }

  async readFiles<Request extends ChatCompletionRequest>(request: Request, call: HttpCall): Promise<Request> {
    const { messages, documents: given = [] } = request;
    const { maxFilePassages: max } = this;
    if (max === undefined || !hasFiles(messages) || chatTaskOf(messages)) return request;
    const question = condenseQuestion(messages.map(withoutFiles));
    const { attached } = this.services.client;
    const { messages: asked, documents, problem } = await attached.read(messages, { question, max }, call);
    if (problem) this.degraded.add('reranking');
    return { ...request, messages: asked, documents: [...documents, ...given] };
  }

  start(given: ChatCompletionRequest, call: HttpCall): ChatRun {
    const { info, services, ignored, degraded } = this;
    const { request } = callableTools(given, info, true);
    const asked = {
      ...request,
      model: services.isNamed ? info.id : undefined,
      chatTemplateKwargs: this.#thinking,
    };
    const unused = [...ignored];
    const chunks = services.client.generate(asked, { ...call, model: info.id });
    const { legacyFunctions, documents: read = [], neighbours = [] } = request;
    const citable = [...read, ...asDocuments(neighbours)];
    const documents = () => withAddresses(citable, call.origin);
    return {
      identity: { ...newIdentity(info.id), revision: info.revision, legacyFunctions, documents },
      ignored: unused,
      degraded,
      chunks: measureGeneration(services.metrics, 'llm', chunks, {
        onChunk: noteIgnored(unused),
        countUsage: true,
        genAi: { side: 'client', model: info.id },
      }),
    };
  }
}
