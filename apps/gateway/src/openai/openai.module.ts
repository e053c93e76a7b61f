import { Module } from '@nestjs/common';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { ModelsModule } from '../models/model-catalog.js';
import { EmbeddingsController } from './embeddings.controller.js';
import { ModelsController } from './models.controller.js';
import { RerankController } from './rerank.controller.js';

/** Embeddings, reranking and the list of models. */
@Module({
  imports: [ModelsModule, MegaServicesModule],
  controllers: [EmbeddingsController, ModelsController, RerankController],
})
export class OpenAiModule {}
