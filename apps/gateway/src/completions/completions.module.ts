import { Module } from '@nestjs/common';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { ModelsModule } from '../models/model-catalog.js';
import { CompletionsController } from './completions.controller.js';
import { LanguageModelsOnly } from './language-models-only.js';
import { TokensController } from './tokens.controller.js';

/** Completions of prompts without a chat template, and tokens. */
@Module({
  imports: [ModelsModule, MegaServicesModule],
  controllers: [CompletionsController, TokensController],
  providers: [LanguageModelsOnly],
  exports: [LanguageModelsOnly],
})
export class CompletionsModule {}
