import {
  samplingParameters,
  unsupportedField,
  type MegaNestError,
  type ModelInfo,
  type TemplateVariables,
} from '#platform/contracts';
import { pickParameters, type MegaServiceDefinition } from '#platform/dag';
import {
  callableTools,
  ignoredFields,
  littleEffort,
  planThinking,
  unusedLabels,
  type ChatCompletionRequest,
} from '#api/openai-api';
import { measureGeneration, Metrics, type HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { AttachedFiles, hasFiles, maxFilePassages } from '../input-files/attached-files.js';
import { searches, takesConversations } from '../mega-services/definition-checks.js';
import { withAddresses } from '../mega-services/page-address.js';
import { MegaServiceRunner, type Attachments } from '../mega-services/mega-service-runner.js';
import {
  type AnswerForm,
  inNamesOfHere,
  type MegaServiceRequest,
} from '../mega-services/mega-service-request.js';
import {
  assertTakesImages,
  type ChatModel,
  type ChatRun,
  newIdentity,
  noteIgnored,
  unfollowedPrompts,
  unreadFiles,
} from './chat-model.js';
import type { OpenedModel } from './opened-model.js';
import { ToolChats } from './tool-chats.js';

/** A mega service as the model of a chat. */
export class MegaServiceModel implements ChatModel {
  readonly isMegaService = true;
  readonly takesImages: boolean;
  readonly callsTools: boolean;
  readonly languageModel: string | undefined;
  readonly maxFilePassages: number | undefined;
  readonly degraded: Set<string>;
  readonly ignored: readonly string[];

  constructor(
    private readonly definition: MegaServiceDefinition,
    private readonly options: {
      runner: MegaServiceRunner;
      metrics: Metrics;
      toolChats: ToolChats;
      /** Its model calls tools and follows a response format. */
      callsTools: boolean;
      languageModel: string | undefined;
      revision: string;
      ignored: readonly string[];
      /** Variables for the chat template of its language model. */
      chatTemplateKwargs: TemplateVariables | undefined;
      /** Its model reads images. */
      takesImages: boolean;
      attached: Pick<AttachedFiles, 'read'>;
      maxFilePassages: number | undefined;
      degraded: Set<string>;
    },
  ) {
    this.takesImages = options.takesImages;
    this.maxFilePassages = options.maxFilePassages;
    this.degraded = options.degraded;
    this.callsTools = options.callsTools;
    this.languageModel = options.languageModel;
    this.ignored = options.ignored;
  }

  readFiles<Request extends ChatCompletionRequest>(request: Request): Promise<Request> {
    return Promise.resolve(request);
  }

  start(request: ChatCompletionRequest, call: HttpCall, attachments?: Attachments): ChatRun {
    const { definition, maxFilePassages: max } = this;
    const { attached, runner, metrics, toolChats, callsTools, revision, ignored, chatTemplateKwargs } =
      this.options;
    const { parameters, request: callable } = parametersOf(definition, request, callsTools);
    const form = callsTools ? answerForm(callable) : wholeForm(request);
    const { messages, labels, legacyFunctions } = request;
    const readFiles: MegaServiceRequest['readFiles'] =
      max === undefined
        ? undefined
        : (given, question, options) => attached.read(given, { question, max }, options);
    const asked = {
      ...attachments,
      messages,
      ...(readFiles && { readFiles }),
      openAgentTools: () => toolChats.forAgent(call, collectionOf(parameters)),
      form,
      ...(chatTemplateKwargs && { chatTemplateKwargs }),
      ...(labels && { labels }),
    };
    const run = runner.run(definition, asked, parameters, call);
    const { chunks, receipt } = run;
    const documents = () => withAddresses([...run.documents(), ...run.neighbours()], call.origin);
    const unused = [...ignored];
    return {
      identity: { ...newIdentity(definition.name), revision, documents, legacyFunctions },
      ignored: unused,
      degraded: this.degraded,
      receipt,
      found: () => withAddresses(run.documents(), call.origin),
      chunks: measureGeneration(metrics, definition.name, chunks, {
        onChunk: noteIgnored(unused),
        countUsage: true,
        genAi: { side: 'client', model: definition.name },
      }),
    };
  }
}

/** Prepares mega services as models of chats. */
@Injectable()
export class MegaServiceModels {
  constructor(
    @Inject(MegaServiceRunner) private readonly runner: MegaServiceRunner,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(AttachedFiles) private readonly attached: Pick<AttachedFiles, 'read'>,
    @Inject(ToolChats) private readonly toolChats: ToolChats,
  ) {}

  /**
   * `toolsFollow`: this request has no tools yet, but the request that is started has some. Errors:
   * unsupported_parameter, invalid_request.
   */
  prepare(
    opened: OpenedModel,
    definition: MegaServiceDefinition,
    request: ChatCompletionRequest,
    toolsFollow = false,
  ): MegaServiceModel {
    const { info, input, languageModel, revision } = opened;
    const callsTools = (toolsFollow || hasOtherForm(request)) && opened.takesForms;
    const { ignored } = parametersOf(definition, request, callsTools);
    ignored.push(...unfollowed(definition, request, info));
    const thinking = planTemplate(definition, request, { info, callsTools });
    ignored.push(...thinking.ignored);
    assertTakesImages(request.messages, input);
    const maxPassages = filePassages(definition, request, info);
    const { runner, metrics, attached, toolChats } = this;
    return new MegaServiceModel(definition, {
      runner,
      metrics,
      toolChats,
      callsTools,
      languageModel,
      revision,
      ignored,
      chatTemplateKwargs: thinking.kwargs,
      takesImages: input.includes('image'),
      attached,
      maxFilePassages: maxPassages,
      degraded: unreadFiles(request.messages, maxPassages),
    });
  }
}

/**
 * Maximum number of passages of the request's files. Undefined without a file, and where the language model writes about
 * the message without documents.
 */
function filePassages(
  definition: MegaServiceDefinition,
  { messages }: ChatCompletionRequest,
  info: ModelInfo | undefined,
): number | undefined {
  if (!info || !hasFiles(messages) || !takesConversations(definition)) return undefined;
  return searches(definition) || info.quotesDocuments === true ? maxFilePassages(info) : undefined;
}

/**
 * The variables for the chat template of the language model, unless it quotes sentences and writes nothing, and the
 * fields about thinking and labels that have no effect.
 */
function planTemplate(
  definition: MegaServiceDefinition,
  request: ChatCompletionRequest,
  { info, callsTools }: { info: ModelInfo | undefined; callsTools: boolean },
): { kwargs?: TemplateVariables; ignored: string[] } {
  const { reasoningEffort: effort, chatTemplateKwargs, labels } = request;
  if (!effort && !chatTemplateKwargs && !labels) return { ignored: [] };
  const quotes = info?.quotesDocuments === true && searches(definition) && !callsTools;
  if (info && !quotes) {
    const { kwargs, ignored } = planThinking(request, info);
    return { kwargs, ignored: [...ignored, ...unusedLabels(labels, info)] };
  }
  const ignored = unusedLabels(labels, undefined);
  if (chatTemplateKwargs) ignored.push('chat_template_kwargs');
  if (effort && !littleEffort.has(effort.value)) ignored.push(effort.field);
  return { ignored };
}

/** The instructions and sampling parameters that the language model of the mega service does not follow. */
function unfollowed(
  definition: MegaServiceDefinition,
  { messages, parameters }: ChatCompletionRequest,
  info: ModelInfo | undefined,
): string[] {
  if (!info) return [];
  const isQuoted =
    info.followsInstructions === false || (info.quotesDocuments === true && searches(definition));
  return [...unfollowedPrompts(messages, info), ...(isQuoted ? samplingParameters(parameters) : [])];
}

/** The parameters of a request that nodes accept, and the fields without effect. */
function parametersOf(
  definition: MegaServiceDefinition,
  request: ChatCompletionRequest,
  takesForms: boolean,
) {
  const { constraint, ...given } = request.parameters;
  if (!takesForms && constraint) throw refusedForm(definition.name);
  const tools = callableTools(request, { id: definition.name, callsTools: takesForms });
  const extra = inNamesOfHere(request.extra);
  const parameters = pickParameters(definition, { ...extra, ...given, max_tool_calls: request.maxToolCalls });
  const ignored = ignoredFields(extra, new Set(Object.keys(parameters)));
  ignored.push(...tools.ignored.filter((name) => !(name in parameters)));
  ignored.push(...lockedNames(definition).filter((name) => given[name as keyof typeof given] !== undefined));
  return { parameters, ignored, request: tools.request };
}

function collectionOf({ collection }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof collection === 'string' ? collection : undefined;
}

/** Whether a request has tools or a response format. */
function hasOtherForm({ tools, serverTools, parameters }: ChatCompletionRequest): boolean {
  return tools !== undefined || serverTools !== undefined || parameters.constraint !== undefined;
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
    ...wholeForm({ stream }),
  };
}

/** An answer that is not streamed may be read as a whole before it is passed on. Without a wish OPEA's paths stream. */
function wholeForm({ stream }: Pick<ChatCompletionRequest, 'stream'>): AnswerForm {
  return stream === false ? { whole: true } : {};
}

/** Parameters that a node locks and that no other node offers. */
function lockedNames({ nodes }: MegaServiceDefinition): string[] {
  const all = [...nodes.values()];
  const isListed = (name: string) =>
    all.some(({ locked, target }) => !locked.has(name) && name in target.kind.parameters.shape);
  return [...new Set(all.flatMap(({ locked }) => [...locked]))].filter((name) => !isListed(name));
}

/** The error for a response format of a mega service whose model writes plain text, or is not the last node. */
function refusedForm(name: string): MegaNestError {
  return unsupportedField(
    'response_format',
    `the mega service ${name} answers from its documents; ask the language model itself`,
  );
}
