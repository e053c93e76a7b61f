import { MessagingConnection } from '#messaging';
import { Drain, HealthRegistry } from '#service-kit';
import { Database, DocumentsRepository } from '#storage';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { IngestJobs } from './ingest/ingest-jobs.js';

/** How often indexes of collections that are gone are dropped. */
const tidyEveryMs = 3_600_000;

/** Watches what the service depends on, and ends its work in the right order: jobs first, the database last. */
@Injectable()
export class DataprepHealth
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  @Inject(DocumentsRepository)
  private readonly documents!: DocumentsRepository;

  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(IngestJobs) private readonly jobs: IngestJobs,
    @Inject(MessagingConnection) connection: MessagingConnection,
    @Inject(HealthRegistry) health: HealthRegistry,
    @Inject(Drain) drain: Drain,
  ) {
    drain.onBegin((over) => jobs.idle(over));
    health.register('postgres', async () => {
      const counts = await this.documents.count();
      return `${counts.documents} documents, ${counts.chunks} chunks`;
    });
    health.register('nats', async () => void (await connection.ping()));
    jobs.watchAbandoned();
  }

  onApplicationBootstrap(): void {
    const { indexer } = this.documents;
    const catchUp = () => void indexer.catchUp().catch(() => undefined);
    catchUp();
    setInterval(catchUp, tidyEveryMs).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.documents.indexer.stop();
    await this.jobs.close();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
