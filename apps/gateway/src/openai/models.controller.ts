import { MegaNestError } from '#contracts';
import { modelList, modelObject, type Model } from '#openai-api';
import { Controller, Get, Inject, Param } from '@nestjs/common';
import { MegaServiceCatalog } from '../megaservice/mega-service-catalog.js';
import { ModelCatalog } from './model-catalog.js';

@Controller()
export class ModelsController {
  constructor(
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
  ) {}

  @Get(['v1/models', 'models'])
  async list() {
    return modelList(await this.#all());
  }

  /** Hub ids hold a slash, so the rest of the path is the id. */
  @Get(['v1/models/*', 'models/*'])
  async find(@Param('*') id: string): Promise<Model> {
    const all = await this.#all();
    const found = all.find((model) => model.id === decodeURIComponent(id));
    if (found) return found;
    throw new MegaNestError('model_not_found', {
      model: id,
      available: all.map((model) => model.id).join(', '),
      param: 'model',
    });
  }

  async #all(): Promise<Model[]> {
    const megaServices = this.megaServices.list().map(({ name }) => modelObject({ id: name }));
    return [...megaServices, ...(await this.models.list()).map(modelObject)];
  }
}
