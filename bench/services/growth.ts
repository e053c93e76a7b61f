/**
 * Search and storing as the corpus grows, up to `--requests` chunks: `npm run bench -- growth --requests 100000`. On a native
 * Postgres with pgvector where one is at hand, else on the embedded one.
 */
import { readFileSync } from 'node:fs';
import {
  ChunksRepository,
  DocumentsRepository,
  openDatabase,
  openMigratedDatabase,
  type ChunkSearch,
  type Database,
} from '#platform/storage';
import { startDatabase } from '#platform/testing';
import { Client } from 'pg';
import { quantile } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { draw, readGrowthTexts, type EmbeddedText, type GrowthTexts } from './growth-texts.js';

const chunksOfDocument = 50;
const k = 10;
const sizes = [1_000, 10_000, 50_000, 100_000, 200_000, 1_000_000];
const kinds = ['similarity', 'lexical', 'hybrid'] as const;
/** As a server of this size would have: memory for the indexes, and seldom checkpoints. */
const serverSettings = { shared_buffers: '4GB', max_wal_size: '16GB' };
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
  readonly #documents: DocumentsRepository;

  constructor(
    private readonly database: Database,
    private readonly texts: GrowthTexts,
    private readonly url: string,
  ) {
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
    // One connection: the processor time is that of the process which serves it.
    const database = openDatabase({ connectionString: this.url, maxConnections: 1 });
    try {
      const cells: string[] = [];
      for (const kind of kinds) cells.push(...(await this.#measureKind(database, kind)));
      return [await this.#recall(database), ...cells, String(await this.#bytesOfChunk())];
    } finally {
      await database.close();
    }
  }

  /** Milliseconds of searches, and of the server's processor in them. */
  async #measureKind(database: Database, kind: (typeof kinds)[number]): Promise<string[]> {
    const chunks = new ChunksRepository(database);
    const { queries } = this.texts;
    for (const query of queries.slice(0, warmUps)) await chunks.search(searchFor(query, kind));
    const process = await serverProcess(database);
    const times: number[] = [];
    const busy: number[] = [];
    for (const query of queries) {
      const [startedAt, before] = [performance.now(), processorMs(process)];
      await chunks.search(searchFor(query, kind));
      times.push(performance.now() - startedAt);
      busy.push(processorMs(process) - before);
    }
    return [times, busy].map((values) => {
      if (values.some(Number.isNaN)) return '';
      return `${quantile(values, 0.5).toFixed(0)} / ${quantile(values, 0.95).toFixed(0)}`;
    });
  }

  async #recall(database: Database): Promise<string> {
    const chunks = new ChunksRepository(database);
    const { queries } = this.texts;
    let found = 0;
    for (const query of queries) {
      const hits = await chunks.search(searchFor(query, 'similarity'));
      const wanted = new Set(nearest(this.#vectors, query.vector));
      found += hits.filter(({ text }) => wanted.has(Number.parseInt(text, 10))).length;
    }
    return (found / (k * queries.length)).toFixed(3);
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

/** The number of the process that serves a connection. */
async function serverProcess(database: Database): Promise<number> {
  const [row] = await database.transaction((transaction) =>
    transaction.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'),
  );
  return row?.pid ?? 0;
}

/** What a process has taken of the processor so far; NaN where the system does not say. */
function processorMs(process: number): number {
  try {
    return Number(readFileSync(`/proc/${process}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

export const subject: Subject = {
  async run({ requests }) {
    const server = await startDatabase(serverSettings);
    const database = await openMigratedDatabase({ connectionString: server.url });
    const rows: (string | number)[][] = [];
    const texts = await readGrowthTexts(requests);
    try {
      const growth = new Growth(database, texts, server.url);
      for (const size of sizes.filter((candidate) => candidate <= requests)) {
        const rates = await growth.growTo(size);
        rows.push([size, ...(await growth.measure()), ...rates.map(Math.round)]);
        console.error(rows.at(-1)?.join(' | '));
      }
    } finally {
      await database.close();
      await server.stop();
    }
    const engine = server.native
      ? 'native Postgres with pgvector and 4 GB of `shared_buffers`'
      : 'the embedded Postgres';
    const head = [
      'chunks',
      'recall at 10',
      ...kinds.flatMap((kind) => [`${kind}, ms`, 'of the server’s processor']),
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
