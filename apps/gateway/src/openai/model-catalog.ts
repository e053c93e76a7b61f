import {
  describeEmbeddingModel,
  describeLlmModel,
  describeRerankingModel,
  MegaNestError,
  type ModelInfo,
  type RpcMethod,
} from '#contracts';
import { RpcClient, type CallOptions } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';

/** A model's description is asked for again after this long. */
const freshMs = 5_000;
/** Longest wait for one service when all are asked. */
const answerMs = 1_000;

/** The models that the services serve, as they describe them. */
@Injectable()
export class ModelCatalog {
  #llm: { info: ModelInfo; at: number } | undefined;

  constructor(@Inject(RpcClient) private readonly client: RpcClient) {}

  /** The language model. Errors: service_unavailable. */
  async llm(options: CallOptions): Promise<ModelInfo> {
    const now = performance.now();
    if (this.#llm && now - this.#llm.at < freshMs) return this.#llm.info;
    const info = await this.client.request(describeLlmModel, {}, options);
    this.#llm = { info, at: now };
    return info;
  }

  /** All models of services that run now. */
  async list(): Promise<ModelInfo[]> {
    const methods = [describeLlmModel, describeEmbeddingModel, describeRerankingModel];
    const answers = await Promise.all(methods.map((method) => this.#ask(method)));
    return answers.filter((info) => info !== undefined);
  }

  async #ask(method: RpcMethod): Promise<ModelInfo | undefined> {
    try {
      return (await this.client.request(method, {}, { deadline: Date.now() + answerMs })) as ModelInfo;
    } catch (error) {
      if (error instanceof MegaNestError && error.status >= 500) return undefined;
      throw error;
    }
  }
}
