import { databaseOptions, HealthRegistry } from '#service-kit';
import {
  ConversationsRepository,
  Database,
  openMigratedDatabase,
  ResponseItemsRepository,
  ResponseLeasesRepository,
  ResponsesRepository,
  SecretsRepository,
  StoredCompletionsRepository,
} from '#storage';
import { Inject, Injectable, type OnApplicationShutdown, type Provider } from '@nestjs/common';
import type { GatewayEnvironment } from '../config/gateway.environment.js';
import { StoredCompletionsController } from '../chat/stored/stored-completions.controller.js';
import { StoredCompletionsService } from '../chat/stored/stored-completions.service.js';
import { CompactionController } from './api/compaction.controller.js';
import { Compactor } from './compaction/compactor.js';
import { ContextCompaction } from './compaction/context-compaction.js';
import { Summarizer } from './compaction/summarizer.js';
import { ContextReader } from './context/context-reader.js';
import { ModelAbilities } from './context/model-abilities.js';
import { InputFiles } from './context/input-files.js';
import { responseSealer } from './context/response-sealer.js';
import { ContextLoader } from './context/context-loader.js';
import { ContextWindow } from './context/context-window.js';
import { ConversationsController } from '../conversations/conversations.controller.js';
import { ConversationsService } from '../conversations/conversations.service.js';
import { GenerationStarter } from './execution/generation-starter.js';
import { ResponsePlanner } from './execution/response-planner.js';
import { ResponseReader } from './execution/response-reader.js';
import { ResponseRuns } from './execution/response-runs.js';
import { ResponseSweeper } from './execution/response-sweeper.js';
import { ResponsesController } from './api/responses.controller.js';
import { ResponsesService } from './execution/responses.service.js';
import { Retention } from './execution/retention.js';
import { serverToolProviders } from './tools/server-tool-sources.js';
import { ResponseSockets } from './websocket/response-sockets.js';

export const responsesControllers = [
  CompactionController,
  ResponsesController,
  ConversationsController,
  StoredCompletionsController,
];

/** Connections of the gateway: its statements are short and many requests run at once. */
const connections = 8;

/** Shows the database in the gateway's health and closes it with the gateway. */
@Injectable()
class GatewayDatabase implements OnApplicationShutdown {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('postgres', async () => `${Math.round(await database.ping())} ms`);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

const repositories = [
  ConversationsRepository,
  ResponseItemsRepository,
  ResponseLeasesRepository,
  ResponsesRepository,
  SecretsRepository,
  StoredCompletionsRepository,
].map((provide) => ({
  provide,
  inject: [Database],
  useFactory: (database: Database) => new provide(database),
}));

/** What the Responses API needs beside the rest of the gateway. */
export function responsesProviders(environment: GatewayEnvironment): Provider[] {
  return [
    {
      provide: Database,
      useFactory: () =>
        openMigratedDatabase({ ...databaseOptions('gateway', environment), maxConnections: connections }),
    },
    GatewayDatabase,
    ...repositories,
    Compactor,
    ContextCompaction,
    ContextLoader,
    ContextReader,
    ContextWindow,
    ConversationsService,
    GenerationStarter,
    ModelAbilities,
    InputFiles,
    ResponsePlanner,
    ResponseReader,
    ResponseRuns,
    ResponseSockets,
    ResponseSweeper,
    ResponsesService,
    responseSealer,
    Retention,
    StoredCompletionsService,
    Summarizer,
    ...serverToolProviders,
  ];
}
