import { MegaNestError, type ModelInfo } from '#platform/contracts';
import { assertMayAsk, type HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { ModelCatalog } from '../models/model-catalog.js';

/** Finds the language model of requests that no mega service can answer. */
@Injectable()
export class LanguageModelsOnly {
  constructor(
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(gatewayEnvironment)
    private readonly environment: Pick<GatewayEnvironment, 'MEGA_SERVICES_ONLY'>,
  ) {}

  /**
   * The language model of a name, of an alias, or the default one. Errors: model_not_found, also for a mega service;
   * insufficient_scope.
   */
  async find(name: string | null | undefined, call: HttpCall): Promise<ModelInfo> {
    const { model } = name ? await this.models.resolve(name, 'answers', call) : { model: undefined };
    if (this.environment.MEGA_SERVICES_ONLY || (model !== undefined && this.megaServices.find(model)))
      throw await this.#notFound(name ?? '');
    const info = model === undefined ? await this.models.llm(call) : await this.models.llmNamed(model, call);
    if (model !== undefined && info.id !== model) throw await this.#notFound(model);
    assertMayAsk(call, name ?? info.id, info.id);
    return info;
  }

  /** The error lists the served models, for which all instances are asked. */
  async #notFound(model: string): Promise<MegaNestError> {
    const served = await this.models.languageModels();
    const available = served.map(({ id }) => id).join(', ');
    return new MegaNestError('model_not_found', { model, available, param: 'model' });
  }
}
