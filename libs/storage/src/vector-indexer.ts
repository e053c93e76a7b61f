import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from './database.js';
import { isVisible } from './search/metadata-filter.js';
import { countWords, forgetWords } from './search/word-counts.js';
import { quoteIdentifier, type Transaction } from './transaction.js';
import {
  coverOf,
  listSegmentNames,
  readSegments,
  segmentDefinition,
  segmentName,
  segmentPrefix,
  type ArrivalRange,
  type VectorSegment,
} from './vector-segments.js';
import { vectorIndexOf } from './vectors.js';

/** How the chunks of a collection are indexed. */
interface IndexingPolicy {
  isEmbedded: boolean;
  /** Chunks that are compared one by one before they get an index. */
  unindexed: number;
  /** So many segments of about one size are built again as one. */
  merged: number;
  /** Most chunks of one segment. */
  most: number;
  /** Most chunks whose words are counted in one transaction. */
  counted: number;
}

/** The embedded database has one session: all wait while an index is built. */
const embeddedPolicy: IndexingPolicy = {
  isEmbedded: true,
  unindexed: 2_000,
  merged: Infinity,
  most: 2_500,
  counted: 2_500,
};
const serverPolicy: IndexingPolicy = {
  isEmbedded: false,
  unindexed: 5_000,
  merged: 8,
  most: 40_000,
  counted: 100_000,
};
/** A graph that does not fit into `maintenance_work_mem` is built many times slower. */
const buildMemoryMegabytes = 256;
/** Of a node beside its vector, with m = 16. */
const nodeBytes = 600;

/** Chunks of a collection that are written between two looks: a look is a transaction of its own. */
const lookAfter = 500;
/** Another process builds an index now. */
const retryMs = 2_000;

interface Target {
  collection: string;
  dimensions: number;
}

/** What changes the indexes. Not both: searches wait while an index is dropped. */
interface Change {
  build?: ArrivalRange & { rows: number };
  drop: string[];
}

/**
 * Counts the words of large collections, and builds HNSW indexes, in the background. Indexes are built in bulk: for a range of a collection's latest chunks once there are too many of them
 * to be compared one by one. Up to then they cost nothing, and a search compares them exactly, so that it misses none.
 */
export class VectorIndexer {
  readonly #written = new Map<string, number>();
  readonly #waiting = new Map<string, Target>();
  #working: Promise<void> | undefined;
  #policy: IndexingPolicy | undefined;
  #stopped = false;

  #own: Database | undefined;

  constructor(private readonly database: Database) {}

  /** Called with the chunks that were just stored, outside of a transaction that has written any. */
  stored(target: Target, chunks: number): void {
    const key = `${target.dimensions} ${target.collection}`;
    const since = (this.#written.get(key) ?? lookAfter) + chunks;
    this.#written.set(key, since < lookAfter ? since : 0);
    if (since >= lookAfter) this.#begin([target]);
  }

  /** Looks at every collection: a process may have died before it built an index. Drops the indexes of collections that are gone. */
  async catchUp(): Promise<void> {
    const targets = await this.database.transaction((transaction) =>
      transaction.query<Target>(
        `SELECT collection, embedding_dimensions AS dimensions FROM documents
         WHERE pending_since IS NULL AND chunk_count > 0 GROUP BY 1, 2`,
      ),
    );
    const prefixes = targets.map(({ collection, dimensions }) => segmentPrefix(collection, dimensions));
    await this.#change(async (transaction) => {
      await forgetWords(
        transaction,
        targets.map(({ collection }) => collection),
      );
      const names = await listSegmentNames(transaction);
      const left = names.filter((name) => !prefixes.some((prefix) => name.startsWith(prefix)));
      return { drop: left };
    });
    this.#begin(targets);
  }

  /** Resolves once nothing is being built. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working;
  }

  /** Begins nothing more. A statement that runs on the server comes to its end there. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
  }

  #begin(targets: readonly Target[]): void {
    for (const target of targets)
      if (vectorIndexOf(target.dimensions).operatorClass)
        this.#waiting.set(`${target.dimensions} ${target.collection}`, target);
    if (this.#working || this.#waiting.size === 0) return;
    this.#working = this.#work().finally(() => {
      this.#working = undefined;
      this.#begin([]);
    });
  }

  async #work(): Promise<void> {
    for (const [key, target] of this.#waiting) {
      this.#waiting.delete(key);
      // A search is right without the index. The next look, or the next start, builds what failed now.
      await this.#grow(target).catch(() => undefined);
      await this.#count(target).catch(() => undefined);
    }
  }

  async #count({ collection }: Target): Promise<void> {
    for (let counted: boolean | 'busy' = true; counted && !this.#stopped;) {
      counted = await this.#alone((transaction, policy) =>
        countWords(transaction, collection, policy.counted),
      );
      if (counted === 'busy') await wait(retryMs, undefined, { ref: false });
    }
  }

  async #grow(target: Target): Promise<void> {
    while (!this.#stopped) {
      const change = await this.#change(
        (transaction, policy) => planGrowth(transaction, target, policy),
        target,
      );
      if (change === 'busy') await wait(retryMs, undefined, { ref: false });
      else if (!change.build && change.drop.length === 0) return;
    }
  }

  /** Does background work in a transaction, in one process at a time. */
  async #alone<Result>(
    work: (transaction: Transaction, policy: IndexingPolicy) => Promise<Result>,
  ): Promise<Result | 'busy'> {
    const own = (this.#own ??= this.database.sibling());
    return own.transaction(async (transaction) => {
      await transaction.query('SET LOCAL statement_timeout = 0');
      const policy = (this.#policy ??= await readPolicy(transaction));
      const lock = 'SELECT pg_try_advisory_xact_lock(hashtext($1)) AS locked';
      const [row] = await transaction.query<{ locked: boolean }>(lock, [
        `vector indexes of ${this.database.schema}`,
      ]);
      return row?.locked ? work(transaction, policy) : 'busy';
    });
  }

  /** Plans a change and makes it. Writers of chunks wait while an index is built; searches do not. */
  async #change(
    plan: (transaction: Transaction, policy: IndexingPolicy) => Promise<Change>,
    { collection, dimensions }: Target = { collection: '', dimensions: 0 },
  ): Promise<Change | 'busy'> {
    return this.#alone(async (transaction, policy) => {
      const change = await plan(transaction, policy);
      for (const name of change.drop)
        await transaction.query(`DROP INDEX IF EXISTS ${quoteIdentifier(name)}`);
      if (change.build) {
        if (!policy.isEmbedded)
          await transaction.query(`SET LOCAL maintenance_work_mem = '${buildMemoryMegabytes}MB'`);
        await transaction.query(
          `CREATE INDEX ${segmentName(collection, dimensions, change.build)}
           ON chunks ${segmentDefinition(collection, dimensions, change.build, change.build.rows)}`,
        );
      }
      return change;
    });
  }
}

async function readPolicy(transaction: Transaction): Promise<IndexingPolicy> {
  const [server] = await transaction.query<{ version: string }>('SELECT version()');
  return server?.version.includes('PGlite') ? embeddedPolicy : serverPolicy;
}

/** A segment for the chunks that have none, once they are many; it takes the place of smaller ones before it. */
async function planGrowth(
  transaction: Transaction,
  { collection, dimensions }: Target,
  policy: IndexingPolicy,
): Promise<Change> {
  const segments = await readSegments(transaction, collection, dimensions);
  const cover = coverOf(segments);
  // Those that a larger one has replaced.
  const drop = segments.filter((segment) => !cover.includes(segment)).map(({ name }) => name);
  if (drop.length > 0) return { drop };
  const from = cover.at(-1)?.to ?? 0;
  const memory = buildMemoryMegabytes * 1024 * 1024;
  const most = Math.min(policy.most, Math.floor(memory / (4 * dimensions + nodeBytes)));
  const [tail] = await transaction.query<{ rows: string; last: string | null }>(
    `SELECT count(*) AS rows, max(arrival) AS last FROM (
       SELECT arrival FROM chunks WHERE collection = $1 AND arrival >= $2 AND ${isVisible} ORDER BY arrival LIMIT $3
     ) AS counted`,
    [collection, from, most],
  );
  const rows = Number(tail?.rows);
  if (rows < Math.min(policy.unindexed, most)) return { drop };
  const replaced = segmentsToMerge(cover, rows, { ...policy, most });
  const all = replaced.reduce((sum, segment) => sum + segment.rows, rows);
  return { build: { from: replaced[0]?.from ?? from, to: Number(tail?.last) + 1, rows: all }, drop };
}

/**
 * The last segments that are built again together with `rows` new chunks: all of about their size where there are enough
 * of them, then those of the next size. So a chunk is indexed a few times, and a search reads few segments.
 */
export function segmentsToMerge(
  cover: readonly VectorSegment[],
  rows: number,
  { unindexed, merged, most }: Pick<IndexingPolicy, 'unindexed' | 'merged' | 'most'>,
): VectorSegment[] {
  const levelOf = (size: number) => Math.floor(Math.log(Math.max(size / unindexed, 1)) / Math.log(merged));
  let [taken, total] = [0, rows];
  for (;;) {
    let [more, size] = [0, total];
    for (let next = cover.at(-1 - taken); next; next = cover.at(-1 - taken - more)) {
      if (levelOf(next.rows) > levelOf(total) || size + next.rows > most) break;
      [more, size] = [more + 1, size + next.rows];
    }
    if (more === 0 || (more + 1 < merged && size < most / 2)) return cover.slice(cover.length - taken);
    [taken, total] = [taken + more, size];
  }
}
