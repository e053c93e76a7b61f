import {
  describeAsrModel,
  describeEmbeddingModel,
  describeLlmModel,
  describeRerankingModel,
  describeTtsModel,
  MegaNestError,
  type ModelInfo,
  type RpcMethod,
} from '#platform/contracts';
import type { MegaServiceDefinition, NodeTarget, ServiceKind } from '#platform/dag';
import { type CallOptions, modelAway, RpcClient } from '#platform/messaging';
import { assertMayAsk, type HttpCall } from '#platform/service-kit';
import { Inject, Injectable, Module } from '@nestjs/common';
import {
  gatewayEnvironment,
  usualUseOf,
  type GatewayEnvironment,
  type ModelUse,
} from '../config/gateway.environment.js';

/** The description of a model is fresh for this time. */
const freshMs = 5_000;
/** A missing model that was served within this time is unavailable; otherwise it does not exist. */
const absentMs = 60_000;
/** Timeout of one service when all services are listed. */
const answerMs = 1_000;

/** The options of a call, with its caller. */
type NamedOptions = CallOptions & Pick<HttpCall, 'caller'>;

/** A model and the service that runs it. */
export type ServedModel = ModelInfo & { service: string };

/** The model that a request asks for. */
export interface ResolvedModel {
  /** Absent where the request leaves the choice to the server. */
  model?: string | undefined;
  /** The caller names the model itself and not an alias, so that no other model may answer. */
  isNamed: boolean;
}

/** The methods that describe the models of each use. */
const describing: Readonly<Record<ModelUse, RpcMethod>> = {
  answers: describeLlmModel,
  vectors: describeEmbeddingModel,
  ranking: describeRerankingModel,
  transcripts: describeAsrModel,
  speech: describeTtsModel,
};

/** The models of the running services. */
@Injectable()
export class ModelCatalog {
  /** The last descriptions of the language models, by name. */
  readonly #llms = new Map<string, { info: ModelInfo; at: number }>();
  /** The language model that answered the last call without a name. */
  #usual: string | undefined;
  /** The names of the running language models. */
  #names: { ids: readonly string[]; at: number } | undefined;
  #asking: Promise<readonly string[]> | undefined;

  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(gatewayEnvironment)
    private readonly environment: Pick<
      GatewayEnvironment,
      'MODEL_ALIASES' | 'DEFAULT_MEGASERVICE' | 'DEFAULT_MODEL'
    >,
  ) {}

  /** The language model of requests that name none; undefined: the served one. */
  get defaultModel(): string | undefined {
    return this.environment.DEFAULT_MODEL;
  }

  /**
   * Resolves the name of a model in a request, once: the model of an alias, or the model that is served for a name that
   * clients send by default. Other names stay as they are; an empty name counts as none. `isMegaService`: whether a mega
   * service has a name, which then does not stand for a model. Errors: service_unavailable; insufficient_scope if the
   * caller's key may not use the model.
   */
  async resolve(
    name: string | null | undefined,
    use: ModelUse,
    options: NamedOptions,
    isMegaService: (name: string) => boolean = () => false,
  ): Promise<ResolvedModel> {
    if (!name) {
      assertMayAsk(options, use === 'answers' ? this.environment.DEFAULT_MEGASERVICE : undefined);
      return { model: undefined, isNamed: false };
    }
    const alias = this.environment.MODEL_ALIASES.names.get(name);
    const isUsual = alias === undefined && usualUseOf(name) === use && !isMegaService(name);
    const model = isUsual ? await this.#servedFor(name, use, options) : (alias ?? name);
    assertMayAsk(options, name, model);
    return { model, isNamed: model === name };
  }

  /** The model that is served for a name that clients send by default; undefined where the service has one model. */
  async #servedFor(name: string, use: ModelUse, options: NamedOptions): Promise<string | undefined> {
    if (use !== 'answers') return this.#idFor(options, use);
    const served = await this.#languageModelNames();
    if (served.includes(name) || (served.length > 1 && !this.#hasDefault())) return name;
    return (await this.llm(options)).id;
  }

  /**
   * The name of the one model for a use, which matters only for a key that may use some models. Undefined otherwise, and
   * while the service is away.
   */
  async #idFor(options: NamedOptions, use: ModelUse): Promise<string | undefined> {
    if (!options.caller?.models) return undefined;
    const info = await this.client.request(describing[use], {}, options).catch(() => undefined);
    return (info as ModelInfo | undefined)?.id;
  }

  /** Whether a name that clients send by default stands for a language model also where several ones run. */
  #hasDefault(): boolean {
    return this.environment.MODEL_ALIASES.usual || this.environment.DEFAULT_MODEL !== undefined;
  }

  /** The names of the running language models. Names that are not fresh are used while they are asked for again. */
  async #languageModelNames(): Promise<readonly string[]> {
    const age = this.#names ? performance.now() - this.#names.at : Infinity;
    if (this.#names && age < freshMs) return this.#names.ids;
    this.#asking ??= this.#askNames().finally(() => (this.#asking = undefined));
    if (!this.#names || age > absentMs) return this.#asking;
    this.#asking.catch(() => undefined);
    return this.#names.ids;
  }

  async #askNames(): Promise<readonly string[]> {
    const ids = (await this.languageModels()).map(({ id }) => id);
    this.#names = { ids, at: performance.now() };
    return ids;
  }

  /** The model of `served` that an alias, or a name that clients send by default, stands for. */
  standsFor(name: string, served: readonly ServedModel[]): string | undefined {
    const { MODEL_ALIASES, DEFAULT_MODEL } = this.environment;
    const alias = MODEL_ALIASES.names.get(name);
    if (alias !== undefined) return alias;
    const use = usualUseOf(name);
    const ids = use
      ? served.filter(({ service }) => service === describing[use].service).map(({ id }) => id)
      : [];
    if (ids.length > 1 && !this.#hasDefault()) return undefined;
    return ids.find((id) => id === DEFAULT_MODEL) ?? ids[0];
  }

  /**
   * The description of a call's language model; of the default one if the call names none. Errors: service_unavailable.
   */
  async llm({ model = this.environment.DEFAULT_MODEL, ...options }: CallOptions): Promise<ModelInfo> {
    const known = this.#llms.get(model ?? this.#usual ?? '');
    const isFresh = known && performance.now() - known.at < freshMs;
    if (isFresh && !this.client.lacks('llm', known.info.id)) return known.info;
    const { others: _others, ...info } = await this.client.request(
      describeLlmModel,
      {},
      { ...options, model },
    );
    this.#llms.set(info.id, { info, at: performance.now() });
    if (model === undefined) this.#usual = info.id;
    return info;
  }

  /**
   * The language model of this name; the description of another model if the name is unknown. Errors:
   * service_unavailable, also for a model that was served a moment ago, because its instance may be restarting.
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

  /** All models of the running services, each once for all its instances. */
  async list(): Promise<ServedModel[]> {
    const [languageModels, ...others] = await Promise.all([
      this.languageModels(),
      this.#ask(describeEmbeddingModel),
      this.#ask(describeRerankingModel),
      this.#ask(describeAsrModel),
      this.#ask(describeTtsModel),
    ]);
    return [...languageModels, ...others.filter((info) => info !== undefined)];
  }

  /** The language models of all running instances, sorted by name. */
  async languageModels(): Promise<ServedModel[]> {
    const deadline = Date.now() + answerMs;
    const described = await this.client.requestAll(describeLlmModel, {}, { deadline });
    // `requestAll` skips instances that announce no load.
    const one = described.length === 0 ? await this.#ask(describeLlmModel) : undefined;
    const all = [...described, ...(one ? [one] : [])].flatMap(withOthers);
    const byName = new Map(all.map((info) => [info.id, info]));
    const models = [...byName.values()].map((info) => ({ ...info, service: describeLlmModel.service }));
    return models.toSorted((a, b) => a.id.localeCompare(b.id));
  }

  async #ask(method: RpcMethod): Promise<(ServedModel & { others?: ModelInfo[] }) | undefined> {
    try {
      const info = await this.client.request(method, {}, { deadline: Date.now() + answerMs });
      return { ...(info as ModelInfo), service: method.service };
    } catch (error) {
      if (error instanceof MegaNestError && error.status >= 500) return undefined;
      throw error;
    }
  }
}

/** The models of an instance: the described one, and the others. */
function withOthers({ others = [], ...info }: ModelInfo & { others?: ModelInfo[] }): ModelInfo[] {
  return [info, ...others];
}

/** The language model that the file of a mega service, or of a nested mega service, names. */
export function languageModelOf({ nodes }: MegaServiceDefinition): string | undefined {
  const named = [...nodes.values()].map(({ target: { megaService, params } }) =>
    megaService ? languageModelOf(megaService) : params['model'],
  );
  return named.findLast((name): name is string => typeof name === 'string');
}

/** Whether a service calls the language model, so that the file of a mega service may name the model. */
export function asksLanguageModel({ fixed = [] }: ServiceKind): boolean {
  return fixed.includes('model');
}

/** Whether a node of a mega service, or of a nested one, calls the language model. */
export function usesLanguageModel(definition: MegaServiceDefinition): boolean {
  return callsSome(definition, ({ kind }) => asksLanguageModel(kind));
}

/** Whether a node of a mega service, or of a nested one, calls such a service, at least as its fallback. */
function callsSome({ nodes }: MegaServiceDefinition, isWanted: (target: NodeTarget) => boolean): boolean {
  const targets = [...nodes.values()].flatMap(({ target, fallback }) =>
    fallback ? [target, fallback] : [target],
  );
  return targets.some((target) =>
    target.megaService ? callsSome(target.megaService, isWanted) : isWanted(target),
  );
}

/** The models of all services, with their names and aliases. */
@Module({
  providers: [ModelCatalog],
  exports: [ModelCatalog],
})
export class ModelsModule {}
