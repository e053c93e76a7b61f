import { Module } from '@nestjs/common';
import { ChatModule } from '../chat/chat.module.js';
import { DataprepModule } from '../dataprep/dataprep.module.js';
import { DocumentToolsModule } from '../document-tools/document-tools.module.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { McpController } from './mcp.controller.js';
import { McpServers } from './mcp-server.js';
import { McpSessions } from './mcp-sessions.js';
import { ProfilePrompts } from './prompts.js';
import { DocumentResources } from './resources.js';
import { McpTools } from './tools/mcp-tools.js';
import { MegaServiceTools } from './tools/mega-service-tools.js';

/** MegaNest as a tool of agents: the server of the Model Context Protocol. */
@Module({
  imports: [ChatModule, DataprepModule, DocumentToolsModule, MegaServicesModule],
  controllers: [McpController],
  providers: [DocumentResources, McpServers, McpSessions, McpTools, MegaServiceTools, ProfilePrompts],
})
export class McpServerModule {}
