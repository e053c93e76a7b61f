import { loadProfile } from '#platform/service-kit';
import { startEmbeddedPostgres } from '#platform/local-stack';
import { loadEmbedder, loadReranker } from '#engine/encoders';
import { ChunksRepository, DocumentsRepository, openDatabase } from '#platform/storage';
import { createTemporaryDirectory } from '#platform/testing';
import { firstWords } from '#platform/foundation';
import { chunkMetadata } from '../../../apps/dataprep/src/ingest/document-writer.ts';
import { embeddingTexts, meanVector } from '../../../apps/dataprep/src/ingest/document-writer.ts';
import { prepareDocument } from '../../../apps/dataprep/src/ingest/prepare-document.ts';
import { behindHeading } from '../../../apps/gateway/src/mega-services/nodes/service-calls.ts';
import { rankByScore, rankFusion } from '../../../apps/reranking/src/rank-by-score.ts';

/**
 * Passages that are reranked, as in megaservices/chatqna.yaml, and the number of words of a passage that are embedded.
 */
const retrieved = 20;
const embeddedWords = 256;

/**
 * Ingests and searches with the bundled models like the services, but in one process: in an embedded Postgres, or in a
 * schema of its own on the server of DATABASE_URL, which is several times faster.
 */
export async function openSearch() {
  const profile = loadProfile('bundled');
  const embedder = await loadEmbedder(profile.embedding.model, { workers: 2 });
  const reranker = await loadReranker(profile.reranking.model, { workers: 2 });
  const store = await openStore();
  const { database } = store;
  const documents = new DocumentsRepository(database);
  const chunks = new ChunksRepository(database);
  const { retrieval, reranking } = profile;
  const embed = async (texts) => (await embedder.embed(texts, { truncate: true })).vectors;

  async function ingest(collection, files) {
    const all = [];
    for (const { name, text } of files) {
      const file = { filename: name, bytes: Buffer.from(text), mimeType: 'text/plain' };
      all.push({ name, prepared: await prepareDocument(file, profile.chunking) });
    }
    const textsOf = (chunk) => embeddingTexts(chunk, embeddedWords);
    const vectors = await embed(all.flatMap(({ prepared }) => prepared.chunks.flatMap(textsOf)));
    let next = 0;
    for (const { name, prepared } of all) {
      const ready = prepared.chunks.map((chunk) => ({
        text: chunk.text,
        metadata: chunkMetadata(prepared, chunk),
        embedding: meanVector(vectors.slice(next, (next += textsOf(chunk).length))),
      }));
      const facts = { collection, filename: name, contentHash: name, mimeType: 'text/plain', bytes: 0 };
      await documents.replaceDocument({ ...facts, embeddingModel: embedder.info.id }, ready);
    }
  }

  async function search(collection, query) {
    const [embedding] = await embed([query]);
    const hits = await chunks.search({
      collection,
      query,
      embedding,
      searchType: 'hybrid',
      k: retrieved,
      fetchK: retrieval.fetch_k,
      scoreThreshold: 0.2,
      lambdaMult: 0.5,
      fusion: {
        method: retrieval.hybrid_fusion,
        similarityWeight: retrieval.similarity_weight,
        rankConstant: retrieval.rank_constant ?? 60,
      },
    });
    if (hits.length === 0) return [];
    const texts = hits.map((hit) => firstWords(behindHeading(hit), reranking.maxPassageWords));
    const { scores } = await reranker.rerank(query, texts);
    const searchScores = hits.map((hit) => hit.score);
    const fusion = rankFusion(reranking, { query, passages: texts, scores: searchScores });
    return rankByScore(scores, fusion).map(({ index, score }) => ({
      ...hits[index],
      score,
      searchScore: hits[index].score,
      modelScore: scores[index],
    }));
  }

  async function close() {
    await store.close();
    await embedder.close();
    await reranker.close();
  }
  return { ingest, search, close };
}

async function openStore() {
  const server = process.env.DATABASE_URL;
  const directory = await createTemporaryDirectory();
  const embedded = server ? undefined : await startEmbeddedPostgres({ dataDirectory: directory.path });
  const schema = `reader_${process.pid}`;
  const database = openDatabase({ connectionString: server ?? embedded.connectionString, schema });
  await database.migrate();
  async function close() {
    if (server) await database.transaction((one) => one.query(`DROP SCHEMA ${schema} CASCADE`));
    await database.close();
    await embedded?.stop();
    await directory.remove();
  }
  return { database, close };
}
