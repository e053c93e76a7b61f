import {
  ChunksRepository,
  DocumentsRepository,
  openDatabase,
  type ChunkSearch,
  type Database,
} from '#platform/storage';
import { startPostgres, type TestPostgres } from '#platform/testing';

/** A migrated database of one test file, with one connection: PGlite has no more to give. */
export interface StorageFixture {
  postgres: TestPostgres;
  database: Database;
  documents: DocumentsRepository;
  chunks: ChunksRepository;
  stop(): Promise<void>;
}

export async function startStorage(): Promise<StorageFixture> {
  const postgres = await startPostgres();
  const database = openDatabase({ connectionString: postgres.connectionString, maxConnections: 1 });
  await database.migrate();
  return {
    postgres,
    database,
    documents: new DocumentsRepository(database),
    chunks: new ChunksRepository(database),
    stop: async () => {
      await database.close();
      await postgres.stop();
    },
  };
}

export function vector(...values: number[]): Float32Array {
  return Float32Array.from(values);
}

export function document(filename: string, contentHash = filename) {
  return { filename, contentHash, mimeType: 'text/plain', bytes: 10, embeddingModel: 'test-model' };
}

/** A search with everything decided; a test changes what it is about. */
export function search(changes: Partial<ChunkSearch>): ChunkSearch {
  return {
    searchType: 'similarity',
    query: '',
    collection: 'default',
    k: 4,
    fetchK: 20,
    scoreThreshold: 0.2,
    lambdaMult: 0.5,
    fusion: { method: 'rrf', similarityWeight: 1, rankConstant: 60 },
    ...changes,
  };
}
