import { condense, MegaNestError } from '#contracts';
import type { NodeRunner } from '#dag';
import { RpcClient, type CallOptions } from '#messaging';
import { condenseQuestion } from '#text';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { asksLanguageModel, ModelCatalog } from '../../models/model-catalog.js';
import {
  conversationOf,
  type Conversation,
  type MegaServiceRequest,
  type NodeCall,
} from '../mega-service-request.js';
import { AnnouncedServices } from './announced-services.js';
import { builtInNodes } from './built-in-nodes.js';

/** What a question is condensed for: a node of a run. */
type Asking = Pick<NodeCall, 'options'> & {
  request: Pick<NodeCall['request'], 'asksModel'>;
  report: NodeCall['context']['report'];
};

/** The question that documents are searched with. */
interface CondensedQuestion {
  question: string;
  /** Which way it was found; absent if it is the user's own. */
  by?: 'model' | 'words';
  /** Why the model's question is not used, if it was asked for one. */
  problem?: string;
}

/** The model may take this share of the time that is left. */
const shareOfTime = 1 / 4;
/** Time left if a request has no deadline. */
const unboundedMs = 120_000;

/**
 * Finds the question that documents are searched with: the last one, and for a follow-up what it refers to. A language model
 * that writes is asked to rewrite it; without one, or if that does not work in time, words of the turns before are added.
 */
@Injectable()
export class QuestionCondenser {
  /** The nodes of a run that work on one conversation search with one question. */
  readonly #questions = new WeakMap<Conversation, Promise<CondensedQuestion>>();

  constructor(
    @Inject(RpcClient) private readonly client: Pick<RpcClient, 'request'>,
    @Inject(ModelCatalog) private readonly models: Pick<ModelCatalog, 'llm'>,
  ) {}

  /** The first node of a run that asks has the outcome in its receipt. */
  async searchedFor(conversation: Conversation, asking: Asking): Promise<string> {
    const known = this.#questions.get(conversation);
    if (known) return (await known).question;
    if (!hasHistory(conversation)) return conversation.query;
    const running = this.#condense(conversation, asking);
    this.#questions.set(conversation, running);
    const { question, by, problem } = await running;
    if (by) asking.report({ searched: { question, by } });
    if (problem) asking.report({ degraded: { condensing: problem } });
    return question;
  }

  async #condense(conversation: Conversation, asking: Asking): Promise<CondensedQuestion> {
    const { question, problem } = asking.request.asksModel ? await this.#ask(conversation, asking) : {};
    if (question !== undefined) return { question, by: 'model' };
    const ofWords = condenseQuestion(conversation.messages);
    return { question: ofWords, ...(ofWords !== conversation.query && { by: 'words' }), problem };
  }

  /** The model's question; neither a question nor a problem where the model is not to be asked, or is away. */
  async #ask(
    { messages }: Conversation,
    { options }: Asking,
  ): Promise<{ question?: string; problem?: string }> {
    const leftMs = ((options.deadline ?? Infinity) - Date.now()) * shareOfTime;
    const within = (limitMs: number): CallOptions => {
      const deadline = Date.now() + Math.max(0, Math.min(limitMs, leftMs));
      return { ...options, patience: undefined, deadline };
    };
    const info = await this.models.llm(within(unboundedMs)).catch(() => undefined);
    if (!info?.condensesWithinMs) return {};
    try {
      return await this.client.request(condense, { messages }, within(info.condensesWithinMs));
    } catch (error) {
      return { problem: MegaNestError.from(error, 'llm').code };
    }
  }
}

function hasHistory({ messages }: Conversation): boolean {
  return messages.filter(({ role, content }) => role === 'user' && content.trim() !== '').length > 1;
}

/** Calls the service behind a node of a DAG over NATS. */
@Injectable()
export class NodeCaller {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(AnnouncedServices) private readonly announced: AnnouncedServices,
    @Inject(QuestionCondenser) private readonly condenser: QuestionCondenser,
    @Inject(gatewayEnvironment) private readonly environment: Pick<GatewayEnvironment, 'DEFAULT_MODEL'>,
  ) {}

  readonly run: NodeRunner = (context) => {
    const builtIn = builtInNodes.get(context.service);
    const request = context.request as MegaServiceRequest;
    const { requestId, traceparent, patience } = request;
    const { deadline, signal } = context;
    // An attempt with a timeout of its own has that one alone.
    const times = deadline === request.deadline ? { deadline, patience } : { deadline };
    const options = { requestId, traceparent, ...times, signal };
    if (!builtIn) return this.announced.call(context, options);
    const { report } = context;
    const condensing = { ...options, model: request.languageModel ?? this.environment.DEFAULT_MODEL };
    const searchedFor = () =>
      this.condenser.searchedFor(conversationOf({ context, request }), {
        request,
        options: condensing,
        report,
      });
    const named = context.parameters['model'] as string | undefined;
    const model = asksLanguageModel(builtIn) ? (named ?? this.environment.DEFAULT_MODEL) : undefined;
    return builtIn.call({
      client: this.client,
      context,
      request,
      options: { ...options, model },
      searchedFor,
    });
  };
}
