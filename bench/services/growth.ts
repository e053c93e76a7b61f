/**
 * Search and storing as the corpus grows, up to `--requests` chunks: `npm run bench -- growth --requests 100000`. On a native
 * Postgres with pgvector where one is at hand, else on the embedded one.
 */
import {
  ChunksRepository,
  DocumentsRepository,
  openMigratedDatabase,
  type ChunkSearch,
  type Database,
} from '#storage';
import { findProgramsWithVector, startNativePostgres, startPostgres } from '#testing';
import { Client } from 'pg';
import { quantile } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { draw, readGrowthTexts, type EmbeddedText, type GrowthTexts } from './growth-texts.js';

const chunksOfDocument = 50;
const k = 10;
const sizes = [1_000, 10_000, 50_000, 100_000, 200_000, 1_000_000];
const kinds = ['similarity', 'lexical', 'hybrid'] as const;
/** Searches of each kind before those that count. */
const warmUps = 20;

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const half = (text: string, which: 0 | 1) => {
  const words = text.split(' ');
  const middle = Math.ceil(words.length / 2);
  return (which === 0 ? words.slice(0, middle) : words.slice(middle)).join(' ');
};

/** A passage; beyond the last one halves of two passages, whose vector lies between theirs, a little beside. */
function chunkOf(passages: readonly EmbeddedText[], index: number) {
  const passage = passages[index];
  if (passage) return { text: `${index}: ${passage.text}`, embedding: passage.vector };
  const [one, two] = [0, 1].map((turn) => passages[Math.floor(draw(2 * index + turn) * passages.length)]!);
  const noise = (at: number) => (draw(index * 1_009 + at) - 0.5) * (1.2 / Math.sqrt(one!.vector.length));
  const embedding = unit(one!.vector.map((value, at) => value + two!.vector[at]! + noise(at)));
  return { text: `${index}: ${half(one!.text, 0)} ${half(two!.text, 1)}`, embedding };
}

/** Positions of the ten nearest, by comparing all. */
function nearest(vectors: readonly Float32Array[], query: Float32Array): number[] {
  const best: { index: number; product: number }[] = [];
  for (const [index, vector] of vectors.entries()) {
    let product = 0;
    for (let at = 0; at < vector.length; at += 1) product += vector[at]! * query[at]!;
    if (best.length === k && product <= best[k - 1]!.product) continue;
    best.push({ index, product });
    best.sort((left, right) => right.product - left.product).splice(k);
  }
  return best.map(({ index }) => index);
}

function searchFor({ text, vector }: EmbeddedText, searchType: ChunkSearch['searchType']): ChunkSearch {
  return {
    searchType,
    query: text,
    embedding: vector,
    collection: 'default',
    k,
    fetchK: 40,
    scoreThreshold: 0,
    lambdaMult: 0.5,
    fusion: { method: 'scores', similarityWeight: 10, rankConstant: 60 },
  };
}

class Growth {
  readonly #vectors: Float32Array[] = [];
  readonly #chunks: ChunksRepository;
  readonly #documents: DocumentsRepository;

  constructor(
    private readonly database: Database,
    private readonly texts: GrowthTexts,
    private readonly url: string,
  ) {
    this.#chunks = new ChunksRepository(database);
    this.#documents = new DocumentsRepository(database);
  }

  /**
   * Adds documents up to a size; returns the chunks that were stored in a second, and those that were stored and indexed,
   * since indexes are built in the background.
   */
  async growTo(size: number): Promise<[stored: number, indexed: number]> {
    const added = size - this.#vectors.length;
    let spentMs = 0;
    const beganAt = performance.now();
    let preparedMs = 0;
    while (this.#vectors.length < size) {
      const first = this.#vectors.length;
      const preparingAt = performance.now();
      const chunks = Array.from({ length: Math.min(chunksOfDocument, size - first) }, (_unused, index) =>
        chunkOf(this.texts.passages, first + index),
      );
      const filename = `document ${first}`;
      const facts = {
        filename,
        contentHash: filename,
        mimeType: 'text/plain',
        bytes: 1,
        embeddingModel: 'nano',
      };
      const startedAt = performance.now();
      preparedMs += startedAt - preparingAt;
      await this.#documents.replaceDocument(facts, chunks);
      spentMs += performance.now() - startedAt;
      this.#vectors.push(...chunks.map(({ embedding }) => embedding));
    }
    await this.#documents.indexer.settled();
    const allMs = performance.now() - beganAt - preparedMs;
    await this.#vacuum();
    return [added / (spentMs / 1_000), added / (allMs / 1_000)];
  }

  /** A server does so by itself, a minute later. */
  async #vacuum(): Promise<void> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      await client.query('VACUUM ANALYZE chunks');
    } finally {
      await client.end();
    }
  }

  async measure(): Promise<string[]> {
    const { queries } = this.texts;
    const cells: string[] = [];
    let found = 0;
    for (const kind of kinds) {
      const times: number[] = [];
      for (const query of queries.slice(0, warmUps)) await this.#chunks.search(searchFor(query, kind));
      for (const query of queries) {
        const startedAt = performance.now();
        const hits = await this.#chunks.search(searchFor(query, kind));
        times.push(performance.now() - startedAt);
        if (kind !== 'similarity') continue;
        const wanted = new Set(nearest(this.#vectors, query.vector));
        found += hits.filter(({ text }) => wanted.has(Number.parseInt(text, 10))).length;
      }
      cells.push(`${quantile(times, 0.5).toFixed(0)} / ${quantile(times, 0.95).toFixed(0)}`);
    }
    return [(found / (k * queries.length)).toFixed(3), ...cells, String(await this.#bytesOfChunk())];
  }

  async #bytesOfChunk(): Promise<number> {
    const [row] = await this.database.transaction((transaction) =>
      transaction.query<{ bytes: string }>(
        `SELECT pg_total_relation_size('chunks') + pg_total_relation_size('documents') AS bytes`,
      ),
    );
    return Math.round(Number(row?.bytes) / this.#vectors.length);
  }
}

export const subject: Subject = {
  async run({ requests }) {
    const found = findProgramsWithVector();
    const postgres =
      'programs' in found
        ? await startNativePostgres(found.programs).then((server) => ({
            connectionString: server.url,
            stop: () => server.stop(),
          }))
        : await startPostgres();
    const database = await openMigratedDatabase({ connectionString: postgres.connectionString });
    const rows: (string | number)[][] = [];
    const texts = await readGrowthTexts(requests);
    try {
      const growth = new Growth(database, texts, postgres.connectionString);
      for (const size of sizes.filter((candidate) => candidate <= requests)) {
        const rates = await growth.growTo(size);
        const [recall = '', ...rest] = await growth.measure();
        rows.push([size, recall, ...rest, ...rates.map(Math.round)]);
        console.error(rows.at(-1)?.join(' | '));
      }
    } finally {
      await database.close();
      await postgres.stop();
    }
    const engine = 'programs' in found ? 'native Postgres with pgvector' : 'the embedded Postgres';
    const head = [
      'chunks',
      'recall at 10',
      ...kinds.map((kind) => `${kind}, ms`),
      'bytes a chunk',
      'stored in a second',
      'stored and indexed',
    ];
    return `## Growth\n\n${introductionOf(texts)} On ${engine}; milliseconds are p50 / p95.\n\n${table(head, rows)}`;
  },
};

const introductionOf = ({ source, passages, queries }: GrowthTexts) =>
  `One collection that grows, and ${queries.length} searches at each size, one at a time, after ${warmUps} others. A chunk is a passage of
${source}, embedded by nano-embed; beyond ${passages.length.toLocaleString('en')} chunks it is made of the halves of two passages, and its vector lies between
theirs with some noise. Queries are questions of SQuAD and short sentences of the passages. Recall is that of \`similarity\` against
a comparison with all chunks. The rates are those of storing ${chunksOfDocument} chunks a document since the size before, and of storing and
building the indexes, which happens in the background.`;
