import { MegaNestError } from '#platform/contracts';
import type { MegaServiceDefinition } from '#platform/dag';
import { capabilityFields, modelObject, type Model } from '#api/openai-api';
import { Inject, Injectable } from '@nestjs/common';
import { ModelDirectory } from '../chat/model-directory.js';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { givesAnswers, takesConversations } from '../mega-services/definition-checks.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { ModelCatalog, type ServedModel } from '../models/model-catalog.js';

/** Timeout of a language model that is asked for its abilities for the list. */
const abilitiesMs = 1_000;

const isForChats = ({ type }: Model) => type === 'chat';

/** The mega services and models as OpenAI's model objects, for the lists of each dialect. */
@Injectable()
export class ModelList {
  constructor(
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** The mega services that give answers, and the models; those for chats first, since some clients take the first one. */
  async read(): Promise<{ all: Model[]; served: ServedModel[] }> {
    const served = await this.#served();
    return { all: await this.#all(served), served };
  }

  /** A mega service or model, also by an alias. Errors: model_not_found. */
  async find(id: string): Promise<Model> {
    const { all, served } = await this.read();
    const found = all.find((model) => model.id === id);
    if (found) return found;
    const root = this.models.standsFor(id, served);
    const model = all.find((one) => one.id === root);
    if (model) return { ...model, id, root };
    throw new MegaNestError('model_not_found', {
      model: id,
      available: all.map((one) => one.id).join(', '),
      param: 'model',
    });
  }

  async #served(): Promise<ServedModel[]> {
    const models = await this.models.list();
    return this.environment.MEGA_SERVICES_ONLY ? models.filter(({ service }) => service !== 'llm') : models;
  }

  async #all(served: readonly ServedModel[]): Promise<Model[]> {
    const answering = this.megaServices.list().filter(givesAnswers);
    const megaServices = await Promise.all(answering.map((definition) => this.#megaService(definition)));
    const all = [...megaServices, ...served.map(modelObject)];
    return [...all.filter(isForChats), ...all.filter((model) => !isForChats(model))];
  }

  async #megaService(definition: MegaServiceDefinition): Promise<Model> {
    const object = modelObject({ id: definition.name });
    if (!takesConversations(definition)) return { ...object, ...capabilityFields('text') };
    const options = { deadline: Date.now() + abilitiesMs };
    const { takesForms: callsTools, input } = await this.directory.openMegaService(definition, options);
    return { ...object, ...capabilityFields('chat', { callsTools, takesImages: input.includes('image') }) };
  }
}
