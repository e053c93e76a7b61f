import { randomUUID } from 'node:crypto';
import {
  MegaNestError,
  samplingParameters,
  type ChatMessage,
  type GenerationChunk,
  type ModelInfo,
} from '#contracts';
import { pickParameters, type MegaServiceDefinition, type RunReceipt } from '#dag';
import {
  callableTools,
  chatToolParam,
  ignoredFields,
  namingToolParams,
  unusedLabels,
  type ChatCompletionRequest,
  type CompletionIdentity,
} from '#openai-api';
import { measureGeneration, Metrics, type HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { MegaServiceRunner, type Attachments } from '../mega-services/mega-service-runner.js';
import type { AnswerForm } from '../mega-services/mega-service-request.js';
import { assertGivesAnswers, givesAnswers } from '../mega-services/nodes/output-kind.js';
import { inNamesOfHere } from '../mega-services/reference-names.js';
import { assertSearchable } from '../mega-services/searched-question.js';
import { LanguageModelClient } from './language-model.client.js';
import { assertPlainAnswer } from './mega-service-limits.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { assertTakesImages, modalitiesOf, textOnly } from './modalities.js';
import { littleEffort, planThinking } from './plan-thinking.js';

/** A chat under way: its chunks, and what its bodies and headers need to know. */
export interface ChatRun {
  identity: CompletionIdentity;
  chunks: AsyncIterable<GenerationChunk>;
  /** Fields of the request without effect, for `x-meganest-ignored`. */
  ignored: string[];
  /** Where the time went, for mega services. */
  receipt?: () => RunReceipt;
}

/** A chat whose model is found, and whose request has nothing in it that the model cannot do. */
export interface PreparedChat {
  /** A mega service answers, which finds its own documents and calls no tools. */
  isMegaService: boolean;
  /** The model calls the tools of the caller. */
  callsTools: boolean;
  /** The model sees. */
  takesImages: boolean;
  ignored: string[];
  /** Errors of the generation surface in the chunks. */
  start(request: ChatCompletionRequest, call: HttpCall): ChatRun;
}

/** Answers a conversation through a mega service or straight from the language model. */
@Injectable()
export class ChatService {
  constructor(
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceRunner) private readonly runner: MegaServiceRunner,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(LanguageModelClient) private readonly client: LanguageModelClient,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** `model` absent: the default mega service; a mega service's name: that one; the LLM's name: the LLM. */
  async start(request: ChatCompletionRequest, call: HttpCall): Promise<ChatRun> {
    const prepared = await this.prepare(request, call);
    const run = prepared.start(request, call);
    return { ...run, chunks: namingToolParams(run.chunks, chatToolParam) };
  }

  /** `toolsFollow`: the request that is started has tools, this one not yet. Errors: model_not_found, unsupported_parameter, service_unavailable. */
  async prepare(asked: ChatCompletionRequest, call: HttpCall, toolsFollow = false): Promise<PreparedChat> {
    const request = { ...asked, model: await this.models.named(asked.model, 'answers', call) };
    const definition = request.model ? this.megaServices.find(request.model) : this.megaServices.default();
    if (definition) {
      assertGivesAnswers(definition);
      assertSearchable(definition, request.messages);
      const hasForm = toolsFollow || hasOtherForm(request);
      const takesForms = hasForm && (await this.models.takesForms(definition, call));
      const { ignored } = this.#megaServiceParameters(definition, request, takesForms);
      ignored.push(...(await this.#unfollowed(definition, request, call)));
      const revision = await this.models.fingerprint(definition, call);
      const start: PreparedChat['start'] = (...args) => ({
        ...this.#runMegaService({ definition, revision, takesForms }, ...args),
        ignored,
      });
      const abilities = { isMegaService: true, callsTools: takesForms, takesImages: false };
      return { ...abilities, ignored, start };
    }
    if (this.environment.MEGA_SERVICES_ONLY) throw this.#unknownModel(request.model ?? '');
    const info = await this.models.llmNamed(request.model, call);
    if (request.model !== info.id) throw this.#unknownModel(request.model ?? '', info.id);
    const modalities = modalitiesOf(info);
    assertTakesImages(request.messages, modalities);
    const takesImages = modalities.includes('image');
    const thinking = planThinking(request, info);
    const { extra, labels } = request;
    const ignored = [...ignoredFields(extra), ...thinking.ignored, ...unusedLabels(labels, info)];
    ignored.push(...unfollowedPrompts(request.messages, info), ...callableTools(request, info).ignored);
    const start: PreparedChat['start'] = (given, ...rest) => {
      const { request: asking } = callableTools(given, info);
      return this.#generate(info, ignored, { ...asking, chatTemplateKwargs: thinking.kwargs }, ...rest);
    };
    const abilities = { isMegaService: false, callsTools: info.callsTools !== false, takesImages };
    return { ...abilities, ignored, start };
  }

  /** Errors: unsupported_parameter, invalid_request; those of the nodes surface in the chunks. */
  async runMegaService(
    definition: MegaServiceDefinition,
    request: ChatCompletionRequest,
    call: HttpCall,
    attachments?: Attachments,
  ): Promise<ChatRun> {
    if (!attachments?.files?.length) assertSearchable(definition, request.messages);
    const revision = await this.models.fingerprint(definition, call);
    const takesForms = hasOtherForm(request) && (await this.models.takesForms(definition, call));
    const run = this.#runMegaService({ definition, revision, takesForms }, request, call, attachments);
    return { ...run, ignored: [...run.ignored, ...(await this.#unfollowed(definition, request, call))] };
  }

  #runMegaService(
    { definition, revision, takesForms }: AskedMegaService,
    request: ChatCompletionRequest,
    call: HttpCall,
    attachments?: Attachments,
  ): ChatRun {
    const { parameters, ignored } = this.#megaServiceParameters(definition, request, takesForms);
    const form = takesForms ? answerForm(request) : undefined;
    const { chunks, documents, receipt } = this.runner.run(definition, request.messages, parameters, call, {
      ...attachments,
      ...(form && { form }),
    });
    const { legacyFunctions } = request;
    const identity = { ...newIdentity(definition.name), revision, documents, legacyFunctions };
    return {
      identity,
      ignored,
      receipt,
      chunks: measureGeneration(this.metrics, definition.name, chunks, { countUsage: true }),
    };
  }

  #megaServiceParameters(
    definition: MegaServiceDefinition,
    request: ChatCompletionRequest,
    takesForms: boolean,
  ) {
    const { constraint, ...given } = request.parameters;
    if (!takesForms) assertPlainAnswer(definition.name, request, constraint);
    assertTakesImages(request.messages, textOnly);
    const extra = inNamesOfHere(request.extra);
    const parameters = pickParameters(definition, { ...extra, ...given });
    const ignored = ignoredFields(extra, new Set(Object.keys(parameters)));
    ignored.push(
      ...lockedNames(definition).filter((name) => given[name as keyof typeof given] !== undefined),
    );
    if (request.chatTemplateKwargs) ignored.push('chat_template_kwargs');
    ignored.push(...unusedLabels(request.labels, undefined));
    const { reasoningEffort: effort } = request;
    if (effort && !littleEffort.has(effort.value)) ignored.push(effort.field);
    return { parameters, ignored };
  }

  async #unfollowed(
    definition: MegaServiceDefinition,
    { messages, parameters }: ChatCompletionRequest,
    call: HttpCall,
  ): Promise<string[]> {
    const sampling = samplingParameters(parameters);
    if (sampling.length === 0 && !messages.some(isInstruction)) return [];
    const info = await this.models.modelOf(definition, call);
    if (!info) return [];
    const isQuoted =
      info.followsInstructions === false || (info.quotesDocuments === true && searches(definition));
    return [...unfollowedPrompts(messages, info), ...(isQuoted ? sampling : [])];
  }

  #generate(info: ModelInfo, ignored: string[], request: ChatCompletionRequest, call: HttpCall): ChatRun {
    const chunks = this.client.generate(request, call);
    const { legacyFunctions } = request;
    const identity = { ...newIdentity(info.id), revision: info.revision, legacyFunctions };
    return {
      identity,
      ignored,
      chunks: measureGeneration(this.metrics, 'llm', chunks, { countUsage: true }),
    };
  }

  #unknownModel(model: string, ...llm: string[]): MegaNestError {
    const megaServices = this.megaServices.list().filter(givesAnswers);
    const available = [...megaServices.map(({ name }) => name), ...llm].join(', ');
    return new MegaNestError('model_not_found', { model, available, param: 'model' });
  }
}

interface AskedMegaService {
  definition: MegaServiceDefinition;
  revision: string;
  /** Its model calls tools and writes other forms than sentences. */
  takesForms: boolean;
}

/** A request asks for something else than sentences. */
function hasOtherForm({ tools, parameters }: ChatCompletionRequest): boolean {
  return tools !== undefined || parameters.constraint !== undefined;
}

function answerForm({
  tools,
  toolChoice,
  parallelToolCalls,
  parameters,
  stream,
}: ChatCompletionRequest): AnswerForm {
  const { constraint } = parameters;
  return {
    ...(tools && { tools, tool_choice: toolChoice, parallel_tool_calls: parallelToolCalls }),
    ...(constraint && { constraint }),
    ...(stream !== true && { whole: true }),
  };
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer';
}

/** Whether it answers from documents that it searches. */
function searches({ nodes }: MegaServiceDefinition): boolean {
  return [...nodes.values()].some(({ target }) =>
    target.megaService ? searches(target.megaService) : target.service === 'retrieval',
  );
}

/** A model that only quotes does not follow instructions. */
function unfollowedPrompts(messages: readonly ChatMessage[], { followsInstructions }: ModelInfo): string[] {
  return followsInstructions === false && messages.some(isInstruction) ? ['messages.system'] : [];
}

function newIdentity(model: string): CompletionIdentity {
  return {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model,
  };
}

/** Parameters that some node does not let a request set, and no other node lists. */
function lockedNames({ nodes }: MegaServiceDefinition): string[] {
  const all = [...nodes.values()];
  const isListed = (name: string) =>
    all.some(({ locked, target }) => !locked.has(name) && name in target.kind.parameters.shape);
  return [...new Set(all.flatMap(({ locked }) => [...locked]))].filter((name) => !isListed(name));
}
