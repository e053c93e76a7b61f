import { startEmbeddedPostgres } from '#platform/local-stack';
import {
  ChunksRepository,
  DocumentsRepository,
  openDatabase,
  type ChunkHit,
  type ChunkSearch,
} from '#platform/storage';
import { createTemporaryDirectory } from '#platform/testing';
import type { Embedder } from '#engine/encoders';
import { chunkDocument } from '../../apps/dataprep/src/chunking/chunk-document.js';
import type { Dataset } from './datasets.js';

/** A dataset in a database, chunked with the settings of the profile. */
export interface Corpus {
  chunkCount: number;
  /** Mean words of a chunk. */
  chunkWords: number;
  search(search: Omit<ChunkSearch, 'collection'>): Promise<ChunkHit[]>;
}

export interface CorpusStore {
  engine: string;
  load(dataset: Dataset): Promise<Corpus>;
  close(): Promise<void>;
}

/** Opens an empty database: embedded, or a schema of its own on the server of DATABASE_URL. */
export async function openCorpusStore(
  embedder: Embedder,
  chunking: { chunkSize: number; chunkOverlap: number },
): Promise<CorpusStore> {
  const directory = await createTemporaryDirectory();
  const serverUrl = process.env['DATABASE_URL'];
  const embedded = serverUrl ? undefined : await startEmbeddedPostgres({ dataDirectory: directory.path });
  const schema = `bench_${process.pid}`;
  const database = openDatabase({ connectionString: serverUrl ?? embedded?.connectionString ?? '', schema });
  await database.migrate();
  const chunks = new ChunksRepository(database);
  return {
    engine: embedded ? 'embedded Postgres (PGlite)' : 'native Postgres',
    load: async (dataset) => {
      const stored = await store(dataset, {
        embedder,
        chunking,
        documents: new DocumentsRepository(database),
      });
      return { ...stored, search: (search) => chunks.search({ ...search, collection: dataset.name }) };
    },
    close: async () => {
      if (serverUrl) {
        await database.transaction((transaction) => transaction.query(`DROP SCHEMA ${schema} CASCADE`));
      }
      await database.close();
      await embedded?.stop();
      await directory.remove();
    },
  };
}

interface StoreTools {
  embedder: Embedder;
  chunking: { chunkSize: number; chunkOverlap: number };
  documents: DocumentsRepository;
}

/** Each passage becomes a document whose file name is the passage's index. */
async function store(
  { name, passages }: Dataset,
  { embedder, chunking, documents }: StoreTools,
): Promise<Pick<Corpus, 'chunkCount' | 'chunkWords'>> {
  const chunked = passages.map((text) => chunkDocument({ blocks: [{ kind: 'paragraph', text }] }, chunking));
  const all = chunked.flat();
  const { vectors } = await embedder.embed(
    all.map(({ text }) => text),
    { truncate: true },
  );
  let next = 0;
  for (const [index, chunks] of chunked.entries()) {
    const ready = chunks.map(({ text }) => ({ text, embedding: vectors[next++] ?? new Float32Array() }));
    const document = {
      collection: name,
      filename: String(index),
      contentHash: 'bench',
      mimeType: 'text/plain',
    };
    await documents.replaceDocument({ ...document, bytes: 0, embeddingModel: embedder.info.id }, ready);
  }
  const words = all.reduce((sum, chunk) => sum + chunk.words, 0);
  return { chunkCount: all.length, chunkWords: words / all.length };
}
