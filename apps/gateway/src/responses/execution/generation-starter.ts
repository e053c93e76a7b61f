import {
  isAttached,
  MegaNestError,
  withoutFiles,
  type ChatMessage,
  type GenerationChunk,
  type Support,
} from '#platform/contracts';
import type { RunReceipt } from '#platform/dag';
import { renamingErrors } from '#api/openai-api';
import { fileSearchSteps, modelTools, type MachineStep } from '#api/responses';
import type { HttpCall } from '#platform/service-kit';
import { retry } from '#platform/foundation';
import { Inject, Injectable } from '@nestjs/common';
import type { ChatModel, ChatRun } from '../../chat/chat-model.js';
import { ChatService } from '../../chat/chat.service.js';
import { ModelDirectory } from '../../chat/model-directory.js';
import type { OpenedModel } from '../../chat/opened-model.js';
import { hasFiles } from '../../input-files/attached-files.js';
import { withAddresses } from '../../mega-services/page-address.js';
import { searchedQueries } from '../../mega-services/receipt-store.js';
import { Compactor } from '../compaction/compactor.js';
import { ContextWindow } from '../context/context-window.js';
import type { GenerationJob, ResponsePlan } from '../context/response-plan.js';
import { choosableTargets, ServerToolSources, toolChoice } from '../tools/plan-tools.js';
import { toolLoop, type GenerationTurn } from '../tools/tool-loop.js';

/** The longest pause before the next attempt at an overloaded engine that sent no `retry-after`. */
const pauseMs = 1_000;

/** A running generation of a response. */
export interface ResponseGeneration {
  /** Fields of the request without effect on this model. */
  ignored: string[];
  /** Steps that failed, or worked in another way than wanted, so far; besides those of the receipt. */
  degraded: ReadonlySet<string>;
  /** The times of the steps of a mega service, once it runs. */
  receipt: () => RunReceipt | undefined;
  /** How far documents support the answers so far. */
  supports: readonly Support[];
  /** Errors of tools and of generations are thrown here. Leaving the iteration ends the work. */
  steps: AsyncIterable<MachineStep>;
}

/** Starts the generation of a response, by a mega service or by the language model and its tools. */
@Injectable()
export class GenerationStarter {
  constructor(
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
    @Inject(ChatService) private readonly chat: ChatService,
    @Inject(ContextWindow) private readonly window: ContextWindow,
    @Inject(ServerToolSources) private readonly sources: ServerToolSources,
    @Inject(Compactor) private readonly compactor: Compactor,
  ) {}

  /**
   * `patient`: retries an overloaded engine until the deadline, because the client does not wait for the response.
   * Errors: model_not_found, unsupported_parameter; other errors are thrown by the steps.
   */
  async start(plan: ResponsePlan, asked: HttpCall, patient: boolean): Promise<ResponseGeneration> {
    const own = modelTools(plan.initial.tools);
    const opened = plan.model ?? (await this.directory.openResolved(plan.job.chat, asked));
    const model = this.#prepare(opened, plan.job, own.tools.length > 0);
    const call = { ...asked, model: model.languageModel };
    const { degraded } = model;
    const ignored = model.ignored.map(inResponseNames);
    const supports: Support[] = [];
    if (!model.isMegaService) {
      const preparation = { plan, call, opened, model, patient, degraded, ignored };
      const steps = plan.job.warmUp ? this.#warmUp(preparation) : this.#compactedWithTools(preparation);
      return { ignored, degraded, receipt: () => undefined, supports, steps: notingSteps(steps, supports) };
    }
    // A mega service has no prompt to read before its question.
    if (plan.job.warmUp) return { ignored, degraded, receipt: () => undefined, supports, steps: noAnswer() };
    let receipt: (() => RunReceipt) | undefined;
    const open = async () => {
      const run = await this.#runMegaService(plan, model, { call, ignored });
      receipt = run.receipt;
      return run;
    };
    const steps = megaServiceSteps(plan.job, () => (patient ? patiently(open, call) : open()));
    return { ignored, degraded, receipt: () => receipt?.(), supports, steps: notingSteps(steps, supports) };
  }

  /** Errors: those of {@link ChatService.prepare}, with the names of a response's fields. */
  #prepare(opened: OpenedModel, { chat }: GenerationJob, toolsFollow: boolean): ChatModel {
    try {
      return this.chat.prepare(opened, chat, toolsFollow);
    } catch (error) {
      throw namedInput(error);
    }
  }

  async *#compactedWithTools(preparation: Preparation): AsyncGenerator<MachineStep> {
    const { plan, opened, call } = preparation;
    const goingOn = yield* this.compactor.compactPlan(plan, opened, call);
    if (goingOn) yield* this.#withTools({ ...preparation, plan: goingOn });
    else yield* noAnswer();
  }

  /**
   * Lets the model read the conversation, so that the next turn finds it in the prefix cache. A warm-up that fails is
   * ignored, because it makes only the next turn slower. Errors: context_length_exceeded; cancelled.
   */
  async *#warmUp({ plan: { job, initial }, call, model, ignored }: Preparation): AsyncGenerator<MachineStep> {
    const parameters = { ...job.chat.parameters, max_tokens: 1 };
    const tools = model.callsTools ? modelTools(initial.tools).tools : [];
    const turn: GenerationTurn = { messages: job.chat.messages, tools, documents: [], number: 0 };
    try {
      const chat = { ...job.chat, parameters };
      const { chunks } = await this.#generate({ ...job, chat }, turn, model, { call, ignored });
      for await (const { usage } of chunks)
        if (usage)
          yield { type: 'chunk', chunk: { choice: 0, text: '', usage: { ...usage, completionTokens: 0 } } };
    } catch (error) {
      const { code } = MegaNestError.from(error, 'llm');
      if (code === 'context_length_exceeded' || code === 'cancelled') throw error;
    }
    yield* noAnswer();
  }

  async *#withTools({
    plan,
    call,
    model,
    patient,
    degraded,
    ignored,
  }: Preparation): AsyncGenerator<MachineStep> {
    const { initial, owner, toolSecrets: secrets } = plan;
    const chat = await model.readFiles(plan.job.chat, call);
    const job = { ...plan.job, chat };
    const endings: (() => Promise<void>)[] = [];
    const generate = (turn: GenerationTurn) => {
      const open = () => this.#generate(job, turn, model, { call, ignored });
      // After a call of a tool the engine is retried, so that a short overload does not discard the results of tools.
      return chunksOf(() => (patient || turn.number > 0 ? patiently(open, call) : open()));
    };
    const include = new Set(job.include);
    const atEnd = (work: () => Promise<void>) => void endings.push(work);
    const { toolItems: items } = job;
    const { takesImages, callsTools } = model;
    const { messages } = chat;
    const context = { owner, include, items, messages, secrets, atEnd, call, takesImages, degraded };
    const findSource = (type: string) => this.sources.find(type);
    try {
      const passages = withAddresses(chat.documents ?? [], call.origin);
      yield* toolLoop({ response: initial, context, passages, callsTools, findSource, generate });
    } finally {
      await Promise.allSettled(endings.map((work) => work()));
    }
  }

  async #generate(
    { chat, truncation }: GenerationJob,
    { messages: all, tools, toolChoice, documents, neighbours, searched }: GenerationTurn,
    model: ChatModel,
    { call, ignored }: Starting,
  ) {
    const messages =
      truncation === 'auto' && all.length > 1
        ? await this.window.fit(all, truncation, chat.parameters.max_tokens, call, tools)
        : all;
    const asked = { ...chat, messages };
    if (tools.length > 0) Object.assign(asked, { tools, toolChoice });
    if (documents.length > 0 || searched) Object.assign(asked, { documents, neighbours });
    return startNamed(model, asked, { call, ignored });
  }

  /** The turns that fit into the window. Files that become passages do not count, so their turns stay. */
  async #fitting(
    all: ChatMessage[],
    { maxFilePassages }: ChatModel,
    fit: (shown: ChatMessage[]) => Promise<ChatMessage[]>,
  ): Promise<ChatMessage[]> {
    if (all.length <= 1) return all;
    const shown = maxFilePassages === undefined ? all : all.map(withoutFiles);
    const kept = new Set(await fit(shown));
    return all.filter((turn, index) => kept.has(shown[index]!) || hasFiles([turn]));
  }

  /** The language model refuses a conversation that is too long. A mega service would drop turns without a request. */
  async #runMegaService({ job, initial }: ResponsePlan, model: ChatModel, { call, ignored }: Starting) {
    const { chat, truncation } = job;
    const { messages: all, parameters } = chat;
    const messages = await this.#fitting(all, model, (shown) =>
      this.window.fit(shown, truncation, parameters.max_tokens, call),
    );
    const asked = { ...chat, messages };
    const { tools, targets } = modelTools(initial.tools);
    if (model.callsTools && tools.length > 0) {
      const choice = toolChoice(initial.tool_choice, choosableTargets(targets));
      Object.assign(asked, { tools, toolChoice: choice });
    }
    return startNamed(model, asked, { call, ignored });
  }
}

interface Starting {
  call: HttpCall;
  /** Gets the fields of the request that the engine does not take. */
  ignored: string[];
}

interface Preparation extends Starting {
  plan: ResponsePlan;
  opened: OpenedModel;
  model: ChatModel;
  patient: boolean;
  degraded: Set<string>;
}

async function* noAnswer(): AsyncGenerator<MachineStep> {
  await Promise.resolve();
  yield { type: 'no_answer' };
}

/** Passes steps on, and takes down how far documents support each answer. */
async function* notingSteps(
  steps: AsyncIterable<MachineStep>,
  supports: Support[],
): AsyncGenerator<MachineStep> {
  for await (const step of steps) {
    if (step.type === 'chunk' && step.chunk.support) supports.push(step.chunk.support);
    yield step;
  }
}

async function* chunksOf(open: () => Promise<ChatRun>): AsyncGenerator<GenerationChunk> {
  yield* (await open()).chunks;
}

/**
 * A mega service shows its queries and the retrieved documents when its answer begins, unless it searched nothing. The passages of files in messages, and those
 * around the found ones, can be cited, too, but are not results of its search.
 */
async function* megaServiceSteps(
  { searchQuery, includeSearchResults }: GenerationJob,
  open: () => Promise<ChatRun>,
): AsyncGenerator<MachineStep> {
  const run = await open();
  let first = true;
  for await (const chunk of run.chunks) {
    if (first) {
      const citable = run.identity.documents?.() ?? [];
      const found = (run.found?.() ?? citable).filter((passage) => !isAttached(passage));
      const ids = new Set(found.map(({ id }) => id));
      yield { type: 'documents', documents: citable.filter(({ id }) => !ids.has(id)) };
      const searched = run.receipt && searchedQueries(run.receipt());
      const queries = searchQuery === null ? [] : (searched ?? [searchQuery]);
      if (queries.length > 0)
        yield* fileSearchSteps({
          queries,
          documents: found,
          includeResults: includeSearchResults,
        });
    }
    first = false;
    yield { type: 'chunk', chunk };
  }
}

/** Opens a generation. Retries an overloaded engine until the deadline. */
async function patiently(open: () => Promise<ChatRun>, call: HttpCall): Promise<ChatRun> {
  const { signal, patience, deadline } = call;
  const until = patience?.at ?? deadline;
  return retry({ isRetryable: isOverloaded, firstMs: pauseMs, until, signal }, async () => {
    const run = await open();
    const chunks = run.chunks[Symbol.asyncIterator]();
    return { ...run, chunks: continueWith(await chunks.next(), chunks) };
  });
}

function isOverloaded(error: unknown): boolean {
  return error instanceof MegaNestError && error.code === 'overloaded';
}

/** The name of a field of a chat in the request of a response: the system prompt is in `instructions`. */
function inResponseNames(field: string): string {
  return responseNames[field] ?? field;
}

const responseNames: Readonly<Record<string, string>> = {
  'messages.system': 'instructions',
  verbosity: 'text.verbosity',
  max_tokens: 'max_output_tokens',
};

/** Starts a generation whose errors and ignored fields have the names of a response's request. */
function startNamed(
  model: ChatModel,
  asked: Parameters<ChatModel['start']>[0],
  { call, ignored }: Starting,
): ChatRun {
  const run = model.start(asked, call);
  const chunks = renamingErrors(run.chunks, namedInput);
  return { ...run, chunks: sharingIgnored({ ...run, chunks }, ignored) };
}

async function* sharingIgnored(
  { chunks, ignored: ofRun }: Pick<ChatRun, 'chunks' | 'ignored'>,
  ignored: string[],
): AsyncGenerator<GenerationChunk> {
  for await (const chunk of chunks) {
    ignored.push(...ofRun.map(inResponseNames).filter((field) => !ignored.includes(field)));
    yield chunk;
  }
}

/** The error with the field of a response's request: `input` in place of `messages`. */
function namedInput(error: unknown): unknown {
  if (!(error instanceof MegaNestError)) return error;
  const { param } = error;
  if (param === 'messages') return MegaNestError.fromBody({ ...error.toBody(), param: 'input' });
  if (param !== 'max_tokens') return error;
  const message = error.message.replaceAll('max_tokens', responseNames['max_tokens']!);
  return MegaNestError.fromBody({ ...error.toBody(), message, param: responseNames['max_tokens']! });
}

/** Continues an iteration whose first step was taken already. Leaving it ends the source. */
export async function* continueWith<Item>(
  first: IteratorResult<Item> | Promise<IteratorResult<Item>>,
  rest: AsyncIterator<Item>,
): AsyncGenerator<Item> {
  try {
    for (let step = await first; !step.done; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}
