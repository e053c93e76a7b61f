import { MessagingConnection } from '#messaging';
import { Drain, HealthRegistry } from '#service-kit';
import { Database, DocumentsRepository } from '#storage';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { IngestJobs } from './ingest/ingest-jobs.js';

/** Watches what the service depends on, and ends its work in the right order: jobs first, the database last. */
@Injectable()
export class DataprepHealth implements BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(IngestJobs) private readonly jobs: IngestJobs,
    @Inject(MessagingConnection) connection: MessagingConnection,
    @Inject(HealthRegistry) health: HealthRegistry,
    @Inject(Drain) drain: Drain,
  ) {
    drain.onBegin((over) => jobs.idle(over));
    const documents = new DocumentsRepository(database);
    health.register('postgres', async () => {
      const counts = await documents.count();
      return `${counts.documents} documents, ${counts.chunks} chunks`;
    });
    health.register('nats', async () => void (await connection.ping()));
    jobs.watchAbandoned();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.jobs.close();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
