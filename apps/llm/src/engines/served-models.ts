import { MegaNestError, type GenerationChunk, type ModelInfo } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { Metrics } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { engineSettings, type LlmSettings } from '../llm.environment.js';
import { LlmService } from '../llm.service.js';
import { RawService } from '../raw/raw.service.js';
import { WritingService } from '../writing/writing.service.js';
import type { LlmGenerator } from '../open-generator.js';
import { EngineRegistry } from './engine-registry.js';

/** The services of one model. */
export interface ServedModel {
  readonly llm: LlmService;
  readonly raw: RawService;
  readonly writing: WritingService;
}

/** Makes the services of the models of engines. */
@Injectable()
export class EngineServices {
  constructor(
    @Inject(engineSettings) private readonly settings: LlmSettings,
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  serve(generator: LlmGenerator): ServedModel {
    const llm = new LlmService(generator, this.settings, this.metrics);
    return {
      llm,
      raw: new RawService(generator, llm, this.metrics),
      writing: new WritingService(llm, this.settings, this.client),
    };
  }
}

/** The usual model of this service, and the models of its engines. */
@Injectable()
export class ServedModels {
  /** The model of requests that name none. */
  readonly usual: ServedModel;
  readonly #others = new Map<string, ServedModel>();

  constructor(
    @Inject(LlmService) private readonly llm: LlmService,
    @Inject(RawService) raw: RawService,
    @Inject(WritingService) writing: WritingService,
    @Inject(EngineRegistry) private readonly engines: EngineRegistry,
    @Inject(EngineServices) private readonly services: EngineServices,
  ) {
    this.usual = { llm, raw, writing };
  }

  /** Ids of all models, the usual one first. */
  get ids(): string[] {
    const usual = this.llm.model.id;
    return [usual, ...this.engines.models().filter((id) => id !== usual)];
  }

  /** Descriptions of all models, the usual one first; from what is known of the engines. */
  describeAll(): ModelInfo[] {
    const [, ...others] = this.ids;
    return [this.llm.model, ...others.map((id) => ({ ...this.#infoOf(id), id }))];
  }

  /**
   * The description of the model that the caller means, and of the others if it means none. Errors: those of the engines
   * of the model.
   */
  async describe(meant: string | undefined): Promise<ModelInfo & { others?: ModelInfo[] }> {
    const [usual, ...others] = this.describeAll();
    if (meant === undefined || meant === usual!.id || !this.ids.includes(meant))
      return { ...usual!, ...(others.length > 0 && { others }) };
    const [first = meant] = this.#chainOf(meant);
    const served = this.#served(first);
    await served.llm.prepare();
    return { ...served.llm.model, id: meant };
  }

  /**
   * The services of a model. `named`: only this model may answer; `meant`: it answers if it is served, otherwise the usual
   * one does. Errors: model_not_found, which lists the served models.
   */
  find(named: string | undefined, meant?: string): ServedModel {
    const [id] = this.#chainOf(this.#idOf(named, meant));
    return this.#served(id!);
  }

  /**
   * Generates with a model, or with those that answer in its place where it fails before its first words. Errors: those
   * of the last model.
   */
  async *generate(
    named: string | undefined,
    meant: string | undefined,
    write: (model: ServedModel) => AsyncIterable<GenerationChunk>,
  ): AsyncGenerator<GenerationChunk, void, void> {
    const chain = this.#chainOf(this.#idOf(named, meant));
    for (const [index, id] of chain.entries()) {
      let hasBegun = false;
      try {
        for await (const chunk of write(this.#served(id))) {
          hasBegun ||= chunk.text !== '' || chunk.toolCalls !== undefined || chunk.reasoning !== undefined;
          yield chunk;
        }
        return;
      } catch (error) {
        if (hasBegun || index === chain.length - 1 || !isAway(error)) throw error;
      }
    }
  }

  #idOf(named: string | undefined, meant: string | undefined): string {
    const { ids } = this;
    if (named !== undefined && !ids.includes(named))
      throw new MegaNestError('model_not_found', { model: named, available: ids.join(', '), param: 'model' });
    return named ?? (meant !== undefined && ids.includes(meant) ? meant : ids[0]!);
  }

  /** The model and those that answer in its place, without models that nobody serves. */
  #chainOf(id: string): string[] {
    const { ids } = this;
    const usual = this.llm.model.id;
    const isThere = (one: string) => one === usual || (ids.includes(one) && this.engines.hasEngine(one));
    const chain = [...new Set([id, ...this.engines.fallbacks(id)])].filter(isThere);
    return chain.length > 0 ? chain : [id];
  }

  #infoOf(id: string): ModelInfo {
    const [first = id] = this.#chainOf(id);
    return this.#served(first).llm.model;
  }

  #served(id: string): ServedModel {
    if (id === this.llm.model.id) return this.usual;
    const known = this.#others.get(id);
    if (known) return known;
    const served = this.services.serve(this.engines.generator(id));
    this.#others.set(id, served);
    return served;
  }
}

/** Whether another model may answer where this one did not. */
function isAway(error: unknown): boolean {
  if (!(error instanceof MegaNestError)) return false;
  return ['service_unavailable', 'overloaded', 'bad_upstream', 'model_not_found'].includes(error.code);
}
