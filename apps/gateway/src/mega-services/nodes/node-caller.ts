import type { ModelInfo } from '#platform/contracts';
import type { NodeRunner } from '#platform/dag';
import { RpcClient, type CallOptions } from '#platform/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { ImageStore } from '../../input-files/image-store.js';
import { asksLanguageModel, ModelCatalog } from '../../models/model-catalog.js';
import { conversationOf, type MegaServiceRequest } from '../mega-service-request.js';
import { SearchPlans } from '../search/search-plans.js';
import { AnnouncedServices } from './announced-services.js';
import { builtInNodes } from './built-in-nodes.js';

/** Timeout for the limits of a language model. Its service knows them, so that only a service that is away is late. */
const describeTimeoutMs = 500;

/** Calls the service of a DAG's node over NATS. */
@Injectable()
export class NodeCaller {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(AnnouncedServices) private readonly announced: AnnouncedServices,
    @Inject(SearchPlans) private readonly plans: SearchPlans,
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
    const writing = { ...options, model: request.languageModel ?? this.models.defaultModel };
    const plan = () => this.plans.planOf(conversationOf({ context, request }), { request, options: writing });
    const named = context.parameters['model'] as string | undefined;
    const model = asksLanguageModel(builtIn) ? (named ?? this.models.defaultModel) : undefined;
    return builtIn.call({
      client: this.client,
      context,
      request,
      options: { ...options, model },
      images: this.images,
      plan,
      searchedFor: () => plan().question,
      describeModel: () => this.#describeModel({ ...options, model: model ?? writing.model }),
      evidence: async () => (request.asksModel ? (await this.#describeModel(writing))?.evidence : undefined),
    });
  };

  /** A model that is away does not answer in time. */
  async #describeModel(options: CallOptions): Promise<ModelInfo | undefined> {
    const deadline = Math.min(options.deadline ?? Infinity, Date.now() + describeTimeoutMs);
    const asking = { ...options, patience: undefined, deadline };
    return this.models.llm(asking).catch(() => undefined);
  }
}
