import { Module } from '@nestjs/common';
import { AudioModule } from '../audio/audio.module.js';
import { DocumentToolsModule } from '../document-tools/document-tools.module.js';
import { ImageStoreModule } from '../input-files/image-store.js';
import { InputFilesModule } from '../input-files/input-files.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { ModelsModule } from '../models/model-catalog.js';
import { ChatController } from './chat.controller.js';
import { ChatService } from './chat.service.js';
import { IdempotentChats } from './idempotent-chats.js';
import { LanguageModels } from './language-model.js';
import { MegaServiceModels } from './mega-service-model.js';
import { MessageParts } from './message-parts.js';
import { ToolChats } from './tool-chats.js';
import { ModelDirectory } from './model-directory.js';
import { StoredCompletionsController, StoredCompletionsService } from './stored-completions.controller.js';

/** Chat completions of mega services and of language models; stored completions. */
@Module({
  imports: [
    ModelsModule,
    MegaServicesModule,
    AudioModule,
    InputFilesModule,
    ImageStoreModule,
    DocumentToolsModule,
  ],
  controllers: [ChatController, StoredCompletionsController],
  providers: [
    ChatService,
    IdempotentChats,
    LanguageModels,
    MegaServiceModels,
    MessageParts,
    ModelDirectory,
    StoredCompletionsService,
    ToolChats,
  ],
  exports: [ChatService, MessageParts, ModelDirectory],
})
export class ChatModule {}
