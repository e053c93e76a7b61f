import { condense, maxQueryCharacters, MegaNestError, withoutFiles, type ModelInfo } from '#contracts';
import type { NodeRunner } from '#dag';
import { RpcClient, type CallOptions } from '#messaging';
import { condenseQuestion } from '#text';
import { Inject, Injectable } from '@nestjs/common';
import { ImageStore } from '../../input-files/image-store.js';
import { asksLanguageModel, ModelCatalog } from '../../models/model-catalog.js';
import {
  conversationOf,
  type Conversation,
  type MegaServiceRequest,
  type NodeCall,
} from '../mega-service-request.js';
import { AnnouncedServices } from './announced-services.js';
import { builtInNodes } from './built-in-nodes.js';

/** The node for which a question is condensed. */
type Asking = Pick<NodeCall, 'options'> & {
  request: Pick<NodeCall['request'], 'asksModel'>;
  report: NodeCall['context']['report'];
};

/** The question for the search of documents. */
interface CondensedQuestion {
  question: string;
  /** Method that produced the question; absent if it is the user's own. */
  by?: 'model' | 'words';
  /** Code of the error if the model failed to write a question. */
  problem?: string;
}

/** Share of the remaining time for the model. */
const shareOfTime = 1 / 4;
/** Time limit of requests without a deadline. */
const unboundedMs = 120_000;

/** The beginning of a question that a search can use. The receipt and the answer's header say that it was cut. */
function cutQuestion(question: string, asking: Asking): string {
  if (question.length <= maxQueryCharacters) return question;
  asking.report({ degraded: { query: `cut to ${maxQueryCharacters} characters` } });
  return question.slice(0, maxQueryCharacters);
}

/**
 * Finds the question for the search of documents: the last question, rewritten to stand alone if it is a follow-up. A
 * generative language model rewrites it. Without one, or if the model fails or is too late, words of earlier turns are
 * added.
 */
@Injectable()
export class QuestionCondenser {
  /** The question of each conversation, which all nodes of a run share. */
  readonly #questions = new WeakMap<Conversation, Promise<CondensedQuestion>>();

  constructor(
    @Inject(RpcClient) private readonly client: Pick<RpcClient, 'request'>,
    @Inject(ModelCatalog) private readonly models: Pick<ModelCatalog, 'llm'>,
  ) {}

  /** Returns the question. The receipt of the first node that needs it records the result. */
  async searchedFor(conversation: Conversation, asking: Asking): Promise<string> {
    const known = this.#questions.get(conversation);
    if (known) return (await known).question.slice(0, maxQueryCharacters);
    const asked = { ...conversation, messages: conversation.messages.map(withoutFiles) };
    if (!hasHistory(asked)) return cutQuestion(asked.query, asking);
    const running = this.#condense(asked, asking);
    this.#questions.set(conversation, running);
    const { question, by, problem } = await running;
    if (by) asking.report({ searched: { question, by } });
    if (problem) asking.report({ degraded: { condensing: problem } });
    return cutQuestion(question, asking);
  }

  async #condense(conversation: Conversation, asking: Asking): Promise<CondensedQuestion> {
    const { question, problem } = asking.request.asksModel ? await this.#ask(conversation, asking) : {};
    if (question !== undefined) return { question, by: 'model' };
    const ofWords = condenseQuestion(conversation.messages);
    return { question: ofWords, ...(ofWords !== conversation.query && { by: 'words' }), problem };
  }

  /** The model's question. Neither a question nor a problem if the model cannot condense, or is unavailable. */
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
      // The images would be too large for a message, and the question is a text.
      const texts = messages.map(({ images: _images, ...message }) => message);
      return await this.client.request(condense, { messages: texts }, within(info.condensesWithinMs));
    } catch (error) {
      return { problem: MegaNestError.from(error, 'llm').code };
    }
  }
}

function hasHistory({ messages }: Conversation): boolean {
  return messages.filter(({ role, content }) => role === 'user' && content.trim() !== '').length > 1;
}

/** Timeout for the limits of a language model. Its service knows them, so that only a service that is away is late. */
const describeTimeoutMs = 500;

/** Calls the service of a DAG's node over NATS. */
@Injectable()
export class NodeCaller {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(AnnouncedServices) private readonly announced: AnnouncedServices,
    @Inject(QuestionCondenser) private readonly condenser: QuestionCondenser,
    @Inject(ModelCatalog) private readonly models: Pick<ModelCatalog, 'llm' | 'defaultModel'>,
    @Inject(ImageStore) private readonly images: Pick<ImageStore, 'lend'>,
  ) {}

  readonly run: NodeRunner = (context) => {
    const builtIn = builtInNodes.get(context.service);
    const request = context.request as MegaServiceRequest;
    const { requestId, traceparent, patience } = request;
    const { deadline, signal } = context;
    // The timeout of an attempt replaces the deadline of the request, and nothing extends it.
    const times = deadline === request.deadline ? { deadline, patience } : { deadline };
    const options = { requestId, traceparent, ...times, signal };
    if (!builtIn) return this.announced.call(context, options);
    const { report } = context;
    const condensing = { ...options, model: request.languageModel ?? this.models.defaultModel };
    const searchedFor = () =>
      this.condenser.searchedFor(conversationOf({ context, request }), {
        request,
        options: condensing,
        report,
      });
    const named = context.parameters['model'] as string | undefined;
    const model = asksLanguageModel(builtIn) ? (named ?? this.models.defaultModel) : undefined;
    return builtIn.call({
      client: this.client,
      context,
      request,
      options: { ...options, model },
      images: this.images,
      searchedFor,
      evidence: () => this.#evidenceOf(request, condensing),
    });
  };

  /** What the language model reads; a model that is away does not say it in time. */
  async #evidenceOf(
    { asksModel }: Pick<MegaServiceRequest, 'asksModel'>,
    options: CallOptions,
  ): Promise<ModelInfo['evidence']> {
    if (!asksModel) return undefined;
    const deadline = Math.min(options.deadline ?? Infinity, Date.now() + describeTimeoutMs);
    const asking = { ...options, patience: undefined, deadline };
    return (await this.models.llm(asking).catch(() => undefined))?.evidence;
  }
}
