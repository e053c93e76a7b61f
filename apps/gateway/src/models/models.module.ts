import { Module } from '@nestjs/common';
import { ModelCatalog } from './model-catalog.js';

/** The models of all services, and their names. */
@Module({
  providers: [ModelCatalog],
  exports: [ModelCatalog],
})
export class ModelsModule {}
