import { assertServedModel, embed, type ReplyOf } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import type { EmbeddingRequest } from '#api/openai-api';
import { Metrics, type HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { outputKindOf } from '../mega-services/definition-checks.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { MegaServiceOutputs } from '../mega-services/mega-service-outputs.js';
import { ModelCatalog } from '../models/model-catalog.js';

/** Turns texts into vectors, for each dialect. */
@Injectable()
export class Embeddings {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceOutputs) private readonly outputs: MegaServiceOutputs,
    @Inject(ModelCatalog) private readonly models: ModelCatalog,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /**
   * Embeds through the mega service of the path `/v1/embeddings`, if there is one. Errors: model_not_found for a model
   * that is not served; insufficient_scope.
   */
  create(
    body: Omit<EmbeddingRequest, 'encoding_format'> & { truncate?: boolean },
    call: HttpCall,
  ): Promise<ReplyOf<typeof embed>> {
    return this.metrics.measure('embeddings', async () => {
      const isMegaService = (name: string) => this.megaServices.find(name) !== undefined;
      const { model } = await this.models.resolve(body.model, 'vectors', call, isMegaService);
      const { inputs, dimensions, input_type, truncate } = body;
      const definition = this.megaServices.findByPath('/v1/embeddings');
      const isService = definition && outputKindOf(definition) === 'vectors' && !truncate;
      const reply = isService
        ? await this.outputs.vectors(
            definition,
            { inputs, dimensions, input_type, model, encoding_format: 'base64' },
            call,
          )
        : await this.client.request(
            embed,
            { inputs, dimensions, input_type, model, ...(truncate && { truncate }) },
            call,
          );
      if (!isService || model !== definition.name) assertServedModel(model, reply.model);
      return reply;
    });
  }
}
