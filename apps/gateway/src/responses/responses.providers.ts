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
import type { GatewayEnvironment } from '../gateway.environment.js';
import { StoredCompletionsController } from '../stored-completions/stored-completions.controller.js';
import { StoredCompletionsService } from '../stored-completions/stored-completions.service.js';
import { CompactionController } from './compaction/compaction.controller.js';
import { Compactor } from './compaction/compactor.js';
import { ContextCompaction } from './compaction/context-compaction.js';
import { Summarizer } from './compaction/summarizer.js';
import { ContextReader } from './context/context-reader.js';
import { ModelAbilities } from './context/model-abilities.js';
import { InputFiles } from './context/input-files.js';
import { responseSealer } from './context/response-sealer.js';
import { ContextLoader } from './context-loader.js';
import { ContextWindow } from './context-window.js';
import { ConversationsController } from './conversations/conversations.controller.js';
import { ConversationsService } from './conversations/conversations.service.js';
import { GenerationStarter } from './generation-starter.js';
import { ResponsePlanner } from './response-planner.js';
import { ResponseReader } from './response-reader.js';
import { ResponseRuns } from './response-runs.js';
import { ResponseSweeper } from './response-sweeper.js';
import { ResponsesController } from './responses.controller.js';
import { ResponsesService } from './responses.service.js';
import { Retention } from './retention.js';
import { serverToolProviders } from './tools/server-tool-sources.js';
import { ResponseSockets } from './socket/response-sockets.js';

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
