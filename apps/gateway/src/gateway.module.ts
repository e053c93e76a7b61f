import type { ServiceIdentity } from '#platform/service-kit';
import { Module, type DynamicModule } from '@nestjs/common';
import { AnthropicModule } from './anthropic/anthropic.module.js';
import { AudioModule } from './audio/audio.module.js';
import { BatchesModule } from './batches/batches.module.js';
import { ChatModule } from './chat/chat.module.js';
import { CompletionsModule } from './completions/completions.module.js';
import { ConfigModule, type GatewayEnvironment } from './config/gateway.environment.js';
import { ConversationsModule } from './conversations/conversations.module.js';
import { DatabaseModule } from './database/database.module.js';
import { DataprepModule } from './dataprep/dataprep.module.js';
import { DoctorModule } from './doctor/doctor.module.js';
import { EnginesModule } from './engines/engines.module.js';
import { FilesModule } from './files/files.module.js';
import { GatewayHealth } from './gateway-health.js';
import { McpServerModule } from './mcp-server/mcp-server.module.js';
import { MegaServicesModule } from './mega-services/mega-services.module.js';
import { ModelsModule } from './models/model-catalog.js';
import { ModerationsModule } from './moderations/moderations.module.js';
import { OllamaModule } from './ollama/ollama.module.js';
import { OpeaModule } from './opea/opea.module.js';
import { OpenAiModule } from './openai/openai.module.js';
import { ResponsesModule } from './responses/responses.module.js';
import { UserRecordsModule } from './user-records/user-records.module.js';
import { VectorStoresModule } from './vector-stores/vector-stores.module.js';

/** The gateway's names, and its texts for wrong methods, which the OPEA specification prescribes. */
export const identity: ServiceIdentity = {
  service: 'gateway',
  title: 'opea_service@gateway',
  description: 'The MegaNest gateway: chats with your documents through the OpenAI API.',
  wrongMethodTexts: {
    '/v1/embeddings': 'The request of getting embedding vector fails.',
    '/v1/chat/completions': 'The request of LLM generation fails.',
    '/v1/asr': 'The request of ASR fails.',
  },
};

/** One module for each feature; configuration, database and messaging serve all of them. */
@Module({})
export class GatewayModule {
  static register(environment: GatewayEnvironment): DynamicModule {
    return {
      module: GatewayModule,
      imports: [
        ConfigModule.register(environment),
        DatabaseModule,
        AnthropicModule,
        AudioModule,
        BatchesModule,
        ChatModule,
        CompletionsModule,
        ConversationsModule,
        DataprepModule,
        DoctorModule,
        EnginesModule,
        FilesModule,
        McpServerModule,
        MegaServicesModule,
        ModelsModule,
        ModerationsModule,
        OllamaModule,
        OpeaModule,
        OpenAiModule,
        ResponsesModule,
        UserRecordsModule,
        VectorStoresModule,
      ],
      providers: [GatewayHealth],
    };
  }
}
