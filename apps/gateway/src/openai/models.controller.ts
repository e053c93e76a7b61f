import { MegaNestError } from '#contracts';
import {
  codexModel,
  modelCatalogueSchema,
  modelList,
  modelObject,
  modelSchema,
  type Model,
} from '#openai-api';
import { ApiOperation } from '#service-kit';
import { Controller, Get, Inject, Param } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { givesAnswers } from '../mega-services/nodes/output-kind.js';
import { ModelCatalog, type ServedModel } from '../models/model-catalog.js';

@Controller()
export class ModelsController {
  constructor(
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  @Get(['v1/models', 'models'])
  @ApiOperation({ summary: 'Mega services and models', answer: modelCatalogueSchema })
  async list() {
    const served = await this.#served();
    const languageModels = served.filter(({ service }) => service === 'llm');
    return { ...modelList(this.#all(served)), models: languageModels.map(codexModel) };
  }

  /** Hub ids hold a slash, so the rest of the path is the id. */
  @Get(['v1/models/*', 'models/*'])
  @ApiOperation({ summary: 'A mega service or model', answer: modelSchema, wildcard: 'id' })
  async find(@Param('*') id: string): Promise<Model> {
    const all = this.#all(await this.#served());
    const found = all.find((model) => model.id === decodeURIComponent(id));
    if (found) return found;
    throw new MegaNestError('model_not_found', {
      model: id,
      available: all.map((model) => model.id).join(', '),
      param: 'model',
    });
  }

  async #served(): Promise<ServedModel[]> {
    const models = await this.models.list();
    return this.environment.MEGA_SERVICES_ONLY ? models.filter(({ service }) => service !== 'llm') : models;
  }

  #all(served: readonly ServedModel[]): Model[] {
    const megaServices = this.megaServices
      .list()
      .filter(givesAnswers)
      .map(({ name }) => modelObject({ id: name }));
    return [...megaServices, ...served.map(modelObject)];
  }
}
