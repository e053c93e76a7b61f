import {
  ImageBudget,
  invalidField,
  MegaNestError,
  unsupportedField,
  type ChatMessage,
} from '#platform/contracts';
import {
  assertCallsAnswered,
  newId,
  newResponse,
  settingsWith,
  toChatMessages,
  withAdditionalTools,
  type ImageUse,
  type InputItem,
  type ResponseRequest,
  type StoredItem,
} from '#api/responses';
import { Inject, Injectable } from '@nestjs/common';
import type { ChatCompletionRequest } from '#api/openai-api';
import type { HttpCall } from '#platform/service-kit';
import { textOnly } from '../../chat/chat-model.js';
import { ModelDirectory } from '../../chat/model-directory.js';
import type { OpenedModel } from '../../chat/opened-model.js';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { asksForFiles } from '../../input-files/attached-files.js';
import { searches } from '../../mega-services/definition-checks.js';
import { questionOf } from '../../mega-services/mega-service-request.js';
import {
  ContextLoader,
  ContextReader,
  missingInput,
  type UnstoredResponses,
} from '../context/context-reader.js';
import type { PlannedCompaction, ResponsePlan } from '../context/response-plan.js';
import { separateSecrets } from '../tools/mcp/mcp-entry.js';
import { planTools, ServerToolSources } from '../tools/plan-tools.js';

export interface PlanOptions {
  call: HttpCall;
  /** `generate: false`. */
  warmUp?: boolean;
  /** Responses that the request may continue although they are not stored. */
  unstored?: UnstoredResponses;
}

/** Turns a request into a plan: loads the earlier items, resolves references, converts all items to chat messages. */
@Injectable()
export class ResponsePlanner {
  constructor(
    @Inject(ContextLoader) private readonly context: ContextLoader,
    @Inject(ServerToolSources) private readonly sources: ServerToolSources,
    @Inject(ContextReader) private readonly reader: ContextReader,
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** Errors: the errors of {@link ContextLoader}; invalid_request without any input; unsupported_parameter. */
  async plan(
    owner: string,
    request: ResponseRequest,
    { call: asked, warmUp = false, unstored }: PlanOptions,
  ): Promise<ResponsePlan> {
    const model = await this.directory.open(request.model, asked);
    const { definition, languageModel } = model;
    const { settings, include } = request;
    const { input, isTrigger } = withoutTrigger(request.input);
    const [history, inputItems] = await Promise.all([
      this.context.history(owner, settings, unstored),
      this.context.resolve(owner, input, { unstored }),
    ]);
    const call = { ...asked, model: languageModel };
    const isMegaService = definition !== undefined;
    const wanted = request.imageInput ?? this.environment.RESPONSES_IMAGE_INPUT;
    const images = imageUse([...history, ...inputItems], model, wanted);
    const { earlier, now } = await this.#readItems({ history, inputItems }, { owner, images, call });
    const { messages, skipped } = conversationOf(settings.instructions, { earlier, now, images });
    const compaction = compactionOf(request, isTrigger, [...earlier, ...now]);
    if (compaction && definition) throw compactsNothing(isTrigger);
    const findSource = (type: string) => this.sources.find(type);
    const offered = { ...settings, tools: withAdditionalTools(settings.tools, [...earlier, ...now]) };
    const hasForm = offered.tools.length > 0 || settings.text.format.type !== 'text';
    const callsTools = hasForm ? model.takesForms : !isMegaService;
    const { refusesUnserved } = this.sources;
    const unusedTools = planTools(offered, { findSource, isMegaService, callsTools, refusesUnserved });
    const { tools, secrets: toolSecrets } = separateSecrets(offered.tools);
    const defaults = definition ? undefined : model.info?.defaults;
    const initial = newResponse({
      id: newId('resp'),
      createdAt: Math.floor(Date.now() / 1000),
      model: model.name,
      settings: { ...settingsWith(request, defaults), tools },
      status: settings.background ? 'queued' : 'in_progress',
    });
    return {
      owner,
      initial,
      model,
      context: history,
      toolSecrets,
      inputItems,
      ignored: [...request.ignored, ...unusedTools, ...skipped.map((type) => `input.${type}`)],
      job: {
        chat: { ...chatRequestOf(request, messages), ...model.resolved },
        truncation: settings.truncation,
        searchQuery:
          definition && searches(definition) && !asksForFiles(messages) ? questionOf(messages) : null,
        includeSearchResults: include.has('file_search_call.results'),
        include: [...include],
        ...(warmUp && { warmUp }),
        ...(compaction && { compaction }),
        toolItems: [...earlier.filter(isKnownToTools), ...now.filter(isNewToTools)],
      },
    };
  }

  /** Reads the items of history and input with their files and images. Errors: a tool call without its output. */
  async #readItems(
    { history, inputItems }: Record<'history' | 'inputItems', readonly StoredItem[]>,
    reading: { owner: string; images: ImageUse; call: HttpCall },
  ) {
    const options = { ...reading, budget: new ImageBudget() };
    const earlier = await this.reader.read(history, { ...options, path: 'context' });
    const now = await this.reader.read(inputItems, { ...options, path: 'input' });
    assertCallsAnswered(earlier, now);
    return { earlier, now };
  }
}

const isImage = (part: { type?: unknown } | null) => part?.type === 'input_image';

function hasImages(items: readonly StoredItem[]): boolean {
  // A compacted context may contain images, which are sealed.
  return items.some(
    ({ type, content, output }) =>
      type === 'compaction' || [content, output].some((parts) => Array.isArray(parts) && parts.some(isImage)),
  );
}

/** The treatment of images: `wanted` where the model reads none. Errors: model_not_found, service_unavailable. */
function imageUse(items: readonly StoredItem[], model: OpenedModel, wanted: 'refuse' | 'describe'): ImageUse {
  if (!hasImages(items)) return { refuse: textOnly };
  const { input } = model;
  if (input.includes('image')) return 'take';
  return wanted === 'describe' ? 'describe' : { refuse: input };
}

/** Takes out `compaction_trigger`: it is a command, not an item, and must be the last entry. */
function withoutTrigger(input: readonly InputItem[]): { input: readonly InputItem[]; isTrigger: boolean } {
  const at = input.findIndex(({ type }) => type === 'compaction_trigger');
  if (at === -1) return { input, isTrigger: false };
  if (at === input.length - 1) return { input: input.slice(0, at), isTrigger: true };
  const param = `input[${at}]`;
  throw invalidField(param, 'compaction_trigger must be the last item');
}

function compactionOf(
  { compactThreshold, settings: { instructions } }: ResponseRequest,
  only: boolean,
  items: StoredItem[],
): PlannedCompaction | undefined {
  if (only) return { threshold: 0, only, items, instructions };
  return compactThreshold === undefined
    ? undefined
    : { threshold: compactThreshold, only, items, instructions };
}

function compactsNothing(isTrigger: boolean): MegaNestError {
  const param = isTrigger ? 'input' : 'context_management';
  return unsupportedField(
    param,
    'a mega service keeps its own context; name the language model to compact one',
  );
}

/** Types of items that tools of the server continue from. */
const toolItemTypes: ReadonlySet<string> = new Set(['mcp_list_tools', 'mcp_approval_request', 'mcp_call']);
const isKnownToTools = ({ type }: StoredItem) => toolItemTypes.has(type);
/** An answer to an approval request counts only in the request that contains it. */
const isNewToTools = (item: StoredItem) => isKnownToTools(item) || item.type === 'mcp_approval_response';

/** Puts the instructions first. Instructions of earlier responses are not carried over. */
function conversationOf(
  instructions: string | null,
  items: { earlier: readonly StoredItem[]; now: readonly StoredItem[]; images: ImageUse },
) {
  const { images } = items;
  const earlier = toChatMessages(items.earlier, { pathOf: (index) => `context[${index}]`, images });
  const now = toChatMessages(items.now, { images });
  const messages: ChatMessage[] = [...earlier.messages, ...now.messages];
  if (messages.length === 0) throw nothingToAnswer(items.now);
  if (instructions) messages.unshift({ role: 'system', content: instructions });
  return { messages, skipped: [...new Set(now.skippedTypes)] };
}

function nothingToAnswer(items: readonly StoredItem[]): MegaNestError {
  if (items.length === 0) return missingInput();
  const types = [...new Set(items.map(({ type }) => type))].slice(0, 5).join(', ');
  return invalidField('input', `contains no item that the model can read, only ${types}`);
}

/** The chat request of a response, without its tools: they are opened when the generation begins. */
function chatRequestOf(request: ResponseRequest, messages: ChatMessage[]): ChatCompletionRequest {
  const { settings, parameters, extra, chatTemplateKwargs, stream } = request;
  const { effort } = settings.reasoning;
  const labels = { ...labelsOf(settings), ...request.labels };
  return {
    messages,
    parameters,
    extra,
    parallelToolCalls: settings.parallel_tool_calls,
    ...(chatTemplateKwargs && { chatTemplateKwargs }),
    ...(effort !== null && { reasoningEffort: { value: effort, field: 'reasoning.effort' } }),
    ...(Object.keys(labels).length > 0 && { labels }),
    stream,
    includeUsage: true,
  };
}

function labelsOf({
  user,
  safety_identifier,
  prompt_cache_key,
}: ResponseRequest['settings']): NonNullable<ChatCompletionRequest['labels']> {
  return {
    ...(user !== undefined && { user }),
    ...(safety_identifier !== null && { safety_identifier }),
    ...(prompt_cache_key !== null && { prompt_cache_key }),
  };
}
