import { MegaNestError } from '#platform/contracts';
import type { MegaServiceDefinition } from '#platform/dag';
import type { CallOptions } from '#platform/messaging';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { givesAnswers } from '../mega-services/definition-checks.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import {
  languageModelOf,
  ModelCatalog,
  usesLanguageModel,
  type ResolvedModel,
} from '../models/model-catalog.js';
import { OpenedModel } from './opened-model.js';

/**
 * Opens the model of a request: a mega service or a language model. Each request opens its model once.
 *
 * @example
 *   import { parseMegaService } from '#platform/dag';
 *   import assert from 'node:assert/strict';
 *   import { builtInNodes } from '../../apps/gateway/src/mega-services/nodes/built-in-nodes.js';
 *   import { ModelCatalog } from '../../apps/gateway/src/models/model-catalog.js';
 *   import { ModelDirectory } from '../../apps/gateway/src/chat/model-directory.js';
 *
 *   // The service of one language model that calls tools; the gateway asks it over NATS.
 *   const info = { id: 'nano-chat', revision: '1', backend: 'onnx', maxInputTokens: 512, created: 0 };
 *   const client = { lacks: () => false, request: async () => info, requestAll: async () => [info] };
 *   const aliases = { names: new Map([['my-gpt', 'nano-chat']]), usual: true };
 *   const environment = { MODEL_ALIASES: aliases, DEFAULT_MEGASERVICE: 'docs', MEGA_SERVICES_ONLY: false };
 *   const yaml = 'name: docs\ndescription: Answers.\nnodes: { llm: { service: llm } }';
 *   const docs = parseMegaService(yaml, 'docs.yaml', { registry: builtInNodes });
 *   const megaServices = { find: (name: string) => (name === 'docs' ? docs : undefined), default: () => docs };
 *
 *   const models = new ModelCatalog(client as never, environment);
 *   const directory = new ModelDirectory({ ...megaServices, list: () => [docs] }, models, environment);
 *   const named = await directory.open('my-gpt', {} as never);
 *   assert.deepEqual([named.name, named.isNamed, named.takesForms], ['nano-chat', false, true]);
 *   const usual = await directory.open(undefined, {} as never);
 *   assert.deepEqual([usual.name, usual.languageModelAlone.name], ['docs', 'nano-chat']);
 */
@Injectable()
export class ModelDirectory {
  constructor(
    @Inject(MegaServiceCatalog)
    private readonly megaServices: Pick<MegaServiceCatalog, 'find' | 'default' | 'list'>,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(gatewayEnvironment) private readonly environment: Pick<GatewayEnvironment, 'MEGA_SERVICES_ONLY'>,
  ) {}

  /**
   * Resolves the name of a request's model or alias, checks that the caller may use it, and describes the model; the
   * default mega service if there is not a name. A model that does not exist or is away is an error when it is used:
   * {@link OpenedModel.require}. Errors: insufficient_scope; service_unavailable while a usual name is resolved.
   */
  async open(name: string | null | undefined, call: HttpCall): Promise<OpenedModel> {
    const isMegaService = (named: string) => this.megaServices.find(named) !== undefined;
    return this.openResolved(await this.models.resolve(name, 'answers', call, isMegaService), call);
  }

  /** Opens the model of a name that was resolved, and allowed, before. */
  async openResolved(resolved: ResolvedModel, call: CallOptions): Promise<OpenedModel> {
    const { model } = resolved;
    const definition = model ? this.megaServices.find(model) : this.megaServices.default();
    return definition
      ? this.openMegaService(definition, call, resolved)
      : this.#languageModel(resolved, call);
  }

  /** Opens a mega service. Its language model may be away. */
  async openMegaService(
    definition: MegaServiceDefinition,
    call: CallOptions,
    resolved: ResolvedModel = { isNamed: true },
  ): Promise<OpenedModel> {
    const languageModel = languageModelOf(definition) ?? this.models.defaultModel;
    const info = usesLanguageModel(definition)
      ? await this.models.llm({ ...call, model: languageModel }).catch(unlessAway)
      : undefined;
    return new OpenedModel({ ...resolved, definition, languageModel, info });
  }

  async #languageModel(resolved: ResolvedModel, call: CallOptions): Promise<OpenedModel> {
    const { model = '' } = resolved;
    const parts = { ...resolved, languageModel: resolved.model };
    if (this.environment.MEGA_SERVICES_ONLY)
      return new OpenedModel({ ...parts, problem: this.#unknown(model) });
    try {
      const info = await this.models.llmNamed(model, call);
      if (info.id === model) return new OpenedModel({ ...parts, info });
      const served = await this.models.languageModels();
      return new OpenedModel({ ...parts, problem: this.#unknown(model, ...served.map(({ id }) => id)) });
    } catch (error) {
      return new OpenedModel({ ...parts, problem: MegaNestError.from(error, 'llm') });
    }
  }

  #unknown(model: string, ...languageModels: string[]): MegaNestError {
    const megaServices = this.megaServices.list().filter(givesAnswers);
    const available = [...megaServices.map(({ name }) => name), ...languageModels].join(', ');
    return new MegaNestError('model_not_found', { model, available, param: 'model' });
  }
}

/** A mega service answers, or names its node, also while its language model is away. */
function unlessAway(error: unknown): undefined {
  if (!(error instanceof MegaNestError) || error.status < 500) throw error;
}
