import { databaseOptions, HealthRegistry } from '#service-kit';
import {
  ConversationsRepository,
  Database,
  openMigratedDatabase,
  ResponseItemsRepository,
  ResponseLeasesRepository,
  ResponsesRepository,
  StoredCompletionsRepository,
} from '#storage';
import { Inject, Injectable, type OnApplicationShutdown, type Provider } from '@nestjs/common';
import type { GatewayEnvironment } from '../gateway.environment.js';
import { StoredCompletionsController } from '../stored-completions/stored-completions.controller.js';
import { StoredCompletionsService } from '../stored-completions/stored-completions.service.js';
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

export const responsesControllers = [
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
    ContextLoader,
    ContextWindow,
    ConversationsService,
    GenerationStarter,
    ResponsePlanner,
    ResponseReader,
    ResponseRuns,
    ResponseSweeper,
    ResponsesService,
    Retention,
    StoredCompletionsService,
  ];
}
