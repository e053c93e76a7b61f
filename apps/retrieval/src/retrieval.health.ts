import { HealthRegistry } from '#service-kit';
import { Database, DocumentsRepository } from '#storage';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';

/** Healthy while the database answers a query over the tables that searches read. */
@Injectable()
export class RetrievalHealth implements OnApplicationShutdown {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(DocumentsRepository) repository: DocumentsRepository,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('postgres', async () => {
      const { documents, chunks } = await repository.count();
      return `${documents} documents, ${chunks} chunks`;
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
