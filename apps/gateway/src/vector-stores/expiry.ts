import { MegaNestError } from '#contracts';
import { createLogger } from '#service-kit';
import {
  FilesRepository,
  IndexingLeasesRepository,
  VectorStoresRepository,
  type StoredVectorStore,
} from '#storage';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';

/** The owner's store. Errors: not_found; conflict where it has expired, unless that does not matter. */
export async function requireStore(
  stores: VectorStoresRepository,
  owner: string,
  id: string,
  living: 'living' | 'also expired' = 'living',
  param = 'vector_store_id',
): Promise<StoredVectorStore> {
  const store = await stores.find(owner, id);
  if (!store) throw new MegaNestError('not_found', { what: `The vector store ${id}`, param });
  if (living === 'living' && store.status === 'expired')
    throw new MegaNestError('conflict', { detail: `The vector store ${id} has expired.`, param });
  return store;
}

const everyMs = 60_000;

/** Removes files and the content of vector stores that have had their time, and what dead processes left. */
@Injectable()
export class Expiry implements OnModuleInit, BeforeApplicationShutdown {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(VectorStoresRepository) private readonly stores: VectorStoresRepository,
    @Inject(IndexingLeasesRepository) private readonly leases: IndexingLeasesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  onModuleInit(): void {
    const logger = createLogger('gateway', this.environment.LOG_LEVEL);
    const attempt = () =>
      void this.removeExpired().catch((error: unknown) =>
        logger.warn({ err: error as Error }, 'could not remove expired files'),
      );
    attempt();
    this.#timer = setInterval(attempt, everyMs).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  async removeExpired(): Promise<void> {
    await this.files.deleteExpired();
    await this.stores.emptyExpired();
    await this.leases.deleteOrphans();
  }
}
