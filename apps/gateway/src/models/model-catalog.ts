import {
  describeEmbeddingModel,
  describeLlmModel,
  describeRerankingModel,
  MegaNestError,
  type ModelInfo,
  type RpcMethod,
} from '#contracts';
import type { MegaServiceDefinition } from '#dag';
import { type CallOptions, RpcClient } from '#messaging';
import { assertMayAsk, type HttpCall } from '#service-kit';
import { Inject, Injectable, Module } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { aliasOf, type ModelUse } from '../config/model-aliases.js';

/** A model's description is asked for again after this long. */
const freshMs = 5_000;
/** Longest wait for one service when all are asked. */
const answerMs = 1_000;

/** A call, and whose it is. */
type NamedOptions = CallOptions & Pick<HttpCall, 'caller'>;

/** A model and the service that runs it. */
export type ServedModel = ModelInfo & { service: string };

/** The models that the services serve, as they describe them. */
@Injectable()
export class ModelCatalog {
  #llm: { info: ModelInfo; at: number } | undefined;

  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(gatewayEnvironment)
    private readonly environment: Pick<GatewayEnvironment, 'MODEL_ALIASES' | 'DEFAULT_MEGASERVICE'>,
  ) {}

  /**
   * The model that a request's name stands for; the name itself where it is no alias, undefined for the one that is
   * served. Errors: service_unavailable; insufficient_scope where the caller's key may not ask it.
   */
  async named(name: string | undefined, use: ModelUse, options: NamedOptions): Promise<string | undefined> {
    const model = await this.#resolve(name, use, options);
    const unnamed = use === 'answers' ? this.environment.DEFAULT_MEGASERVICE : undefined;
    assertMayAsk(options, name, model ?? unnamed);
    return model;
  }

  async #resolve(name: string | undefined, use: ModelUse, options: CallOptions): Promise<string | undefined> {
    const alias = name === undefined ? undefined : aliasOf(this.environment.MODEL_ALIASES, name, use);
    if (alias === undefined) return name;
    if (alias !== 'served') return alias.model;
    return use === 'answers' ? (await this.llm(options)).id : undefined;
  }

  /** The language model. Errors: service_unavailable. */
  async llm(options: CallOptions): Promise<ModelInfo> {
    const now = performance.now();
    if (this.#llm && now - this.#llm.at < freshMs) return this.#llm.info;
    const info = await this.client.request(describeLlmModel, {}, options);
    this.#llm = { info, at: now };
    return info;
  }

  /**
   * The language model, asked again where the one last seen has another name: it may have been replaced since.
   * Errors: service_unavailable.
   */
  async llmNamed(name: string | undefined, options: CallOptions): Promise<ModelInfo> {
    const info = await this.llm(options);
    if (info.id === name) return info;
    this.#llm = undefined;
    return this.llm(options);
  }

  /**
   * Changes with the definition of a mega service and with the weights of the language model that it asks; where that
   * is away, with the definition alone.
   */
  async fingerprint(definition: MegaServiceDefinition, options: CallOptions): Promise<string> {
    const model = await this.modelOf(definition, options);
    if (!model) return definition.revision;
    return createHash('sha256').update(`${definition.revision} ${model.revision}`).digest('hex').slice(0, 12);
  }

  /** The language model that a mega service asks; undefined where it asks none, or where that is away. */
  async modelOf(definition: MegaServiceDefinition, options: CallOptions): Promise<ModelInfo | undefined> {
    if (!usesLanguageModel(definition)) return undefined;
    try {
      return await this.llm(options);
    } catch (error) {
      if (error instanceof MegaNestError && error.status >= 500) return undefined;
      throw error;
    }
  }

  /**
   * Whether the model of a mega service calls the caller's tools and writes the forms that a caller asks for: it answers as the
   * last node, and is able to. False where it is away.
   */
  async takesForms(definition: MegaServiceDefinition, options: CallOptions): Promise<boolean> {
    if (definition.nodes.get(definition.output)?.target.service !== 'llm') return false;
    const info = await this.modelOf(definition, options);
    return info !== undefined && info.callsTools !== false;
  }

  /** All models of services that run now. */
  async list(): Promise<ServedModel[]> {
    const methods = [describeLlmModel, describeEmbeddingModel, describeRerankingModel];
    const answers = await Promise.all(methods.map((method) => this.#ask(method)));
    return answers.filter((info) => info !== undefined);
  }

  async #ask(method: RpcMethod): Promise<ServedModel | undefined> {
    try {
      const info = await this.client.request(method, {}, { deadline: Date.now() + answerMs });
      return { ...(info as ModelInfo), service: method.service };
    } catch (error) {
      if (error instanceof MegaNestError && error.status >= 500) return undefined;
      throw error;
    }
  }
}

/** Whether a node of a mega service, or of one inside it, asks the language model. */
export function usesLanguageModel({ nodes }: MegaServiceDefinition): boolean {
  return [...nodes.values()].some(({ target, fallback }) =>
    [target, fallback].some(
      (called) =>
        called &&
        (called.megaService ? usesLanguageModel(called.megaService) : /^llm\b/.test(called.service)),
    ),
  );
}

/** The models of all services, and their names. */
@Module({
  providers: [ModelCatalog],
  exports: [ModelCatalog],
})
export class ModelsModule {}
