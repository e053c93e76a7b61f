import {
  describeEmbeddingModel,
  describeLlmModel,
  describeRerankingModel,
  MegaNestError,
  type ModelInfo,
  type RpcMethod,
} from '#contracts';
import type { MegaServiceDefinition, ServiceKind } from '#dag';
import { type CallOptions, modelAway, RpcClient } from '#messaging';
import { assertMayAsk, type HttpCall } from '#service-kit';
import { Inject, Injectable, Module } from '@nestjs/common';
import { createHash } from 'node:crypto';
import {
  aliasOf,
  gatewayEnvironment,
  type GatewayEnvironment,
  type ModelUse,
} from '../config/gateway.environment.js';

/** A model's description is asked for again after this long. */
const freshMs = 5_000;
/** A model that was served so lately is not there for the moment; one that was not does not exist. */
const absentMs = 60_000;
/** Longest wait for one service when all are asked. */
const answerMs = 1_000;

/** A call, and whose it is. */
type NamedOptions = CallOptions & Pick<HttpCall, 'caller'>;

/** A model and the service that runs it. */
export type ServedModel = ModelInfo & { service: string };

/** The models that the services serve, as they describe them. */
@Injectable()
export class ModelCatalog {
  /** Language models as they were described last, by name. */
  readonly #llms = new Map<string, { info: ModelInfo; at: number }>();
  /** The one that answered where none was named. */
  #usual: string | undefined;

  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(gatewayEnvironment)
    private readonly environment: Pick<
      GatewayEnvironment,
      'MODEL_ALIASES' | 'DEFAULT_MEGASERVICE' | 'DEFAULT_MODEL'
    >,
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

  /** The language model of a call, or what answers where it names none. Errors: service_unavailable. */
  async llm({ model = this.environment.DEFAULT_MODEL, ...options }: CallOptions): Promise<ModelInfo> {
    const known = this.#llms.get(model ?? this.#usual ?? '');
    const isFresh = known && performance.now() - known.at < freshMs;
    if (isFresh && !this.client.lacks('llm', known.info.id)) return known.info;
    const info = await this.client.request(describeLlmModel, {}, { ...options, model });
    this.#llms.set(info.id, { info, at: performance.now() });
    if (model === undefined) this.#usual = info.id;
    return info;
  }

  /**
   * The language model of this name; another one where there is none. Errors: service_unavailable, also where it was served
   * a moment ago: it is being replaced.
   */
  async llmNamed(name: string, options: CallOptions): Promise<ModelInfo> {
    const info = await this.llm({ ...options, model: name });
    if (info.id !== name) this.#assertGone(name);
    return info;
  }

  #assertGone(name: string): void {
    const seen = this.#llms.get(name);
    if (seen && performance.now() - seen.at < absentMs) throw modelAway('llm', name);
    this.#llms.delete(name);
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
      return await this.llm({ ...options, model: this.nameOf(definition) });
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

  /** The language model that a mega service asks, where its file or the settings say which. */
  nameOf(definition: MegaServiceDefinition): string | undefined {
    return languageModelOf(definition) ?? this.environment.DEFAULT_MODEL;
  }

  /** All models of services that run now, each once however many instances serve it. */
  async list(): Promise<ServedModel[]> {
    const [languageModels, ...others] = await Promise.all([
      this.languageModels(),
      this.#ask(describeEmbeddingModel),
      this.#ask(describeRerankingModel),
    ]);
    return [...languageModels, ...others.filter((info) => info !== undefined)];
  }

  /** The language models of all instances that run now, by name. */
  async languageModels(): Promise<ServedModel[]> {
    const deadline = Date.now() + answerMs;
    const described = await this.client.requestAll(describeLlmModel, {}, { deadline });
    // Programs that announce no load are not asked one by one.
    const one = described.length === 0 ? await this.#ask(describeLlmModel) : undefined;
    const byName = new Map([...described, ...(one ? [one] : [])].map((info) => [info.id, info]));
    const models = [...byName.values()].map((info) => ({ ...info, service: describeLlmModel.service }));
    return models.toSorted((a, b) => a.id.localeCompare(b.id));
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

/** The language model that the file of a mega service names, or that of one inside it. */
export function languageModelOf({ nodes }: MegaServiceDefinition): string | undefined {
  const named = [...nodes.values()].map(({ target: { megaService, params } }) =>
    megaService ? languageModelOf(megaService) : params['model'],
  );
  return named.findLast((name): name is string => typeof name === 'string');
}

/** Whether a service asks the language model: the file of a mega service may say which one. */
export function asksLanguageModel({ fixed = [] }: ServiceKind): boolean {
  return fixed.includes('model');
}

/** Whether a node of a mega service, or of one inside it, asks the language model. */
export function usesLanguageModel({ nodes }: MegaServiceDefinition): boolean {
  return [...nodes.values()].some(({ target, fallback }) =>
    [target, fallback].some(
      (called) =>
        called &&
        (called.megaService ? usesLanguageModel(called.megaService) : asksLanguageModel(called.kind)),
    ),
  );
}

/** The models of all services, and their names. */
@Module({
  providers: [ModelCatalog],
  exports: [ModelCatalog],
})
export class ModelsModule {}
