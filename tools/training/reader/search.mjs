import { loadProfile } from '#service-kit';
import { startEmbeddedPostgres } from '#local-stack';
import { loadEmbedder, loadReranker } from '#encoders';
import { ChunksRepository, DocumentsRepository, openDatabase } from '#storage';
import { createTemporaryDirectory } from '#testing';
import { firstWords } from '#text';
import { chunkMetadata } from '../../../apps/dataprep/src/ingest/document-writer.ts';
import { embeddingTexts, meanVector } from '../../../apps/dataprep/src/ingest/embedding-text.ts';
import { prepareDocument } from '../../../apps/dataprep/src/ingest/prepare-document.ts';
import { behindHeading } from '../../../apps/gateway/src/mega-services/nodes/documents.ts';
import { rankByScore } from '../../../apps/reranking/src/rank-by-score.ts';

/** Passages that are reranked, as in megaservices/chatqna.yaml, and the words of one that are embedded. */
const retrieved = 20;
const embeddedWords = 256;
/** Passages that are written for a question. */
const kept = 10;

/** Ingests and searches with the bundled models as the services do, and waits for none of them. */
export async function openSearch() {
  const profile = loadProfile('bundled');
  const embedder = await loadEmbedder(profile.embedding.model, { workers: 2 });
  const reranker = await loadReranker(profile.reranking.model, { workers: 2 });
  const directory = await createTemporaryDirectory();
  const postgres = await startEmbeddedPostgres({ dataDirectory: directory.path });
  const database = openDatabase({ connectionString: postgres.connectionString, schema: 'reader' });
  await database.migrate();
  const documents = new DocumentsRepository(database);
  const chunks = new ChunksRepository(database);
  const { retrieval, reranking } = profile;
  const embed = async (texts) => (await embedder.embed(texts, { truncate: true })).vectors;

  async function ingest(collection, files) {
    for (const { name, text } of files) {
      const file = { filename: name, bytes: Buffer.from(text), mimeType: 'text/plain' };
      const prepared = await prepareDocument(file, profile.chunking);
      const texts = prepared.chunks.map((chunk) => embeddingTexts(chunk, embeddedWords));
      const vectors = await embed(texts.flat());
      const ready = prepared.chunks.map((chunk, index) => ({
        text: chunk.text,
        metadata: chunkMetadata(prepared, chunk),
        embedding: meanVector(vectors.splice(0, texts[index].length)),
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
    const fusion = { weight: reranking.fusionWeight, constant: reranking.fusionConstant };
    return rankByScore(scores, fusion)
      .slice(0, kept)
      .map(({ index, score }) => ({ ...hits[index], score }));
  }

  async function close() {
    await database.close();
    await postgres.stop();
    await directory.remove();
    await embedder.close();
    await reranker.close();
  }
  return { ingest, search, close };
}
