import { setTimeout as wait } from 'node:timers/promises';
import { lacksSharedMemory } from './database-errors.js';
import type { Database } from './database.js';
import { countWords, forgetWords } from './search/word-counts.js';
import {
  buildMemoryMegabytes,
  planGrowth,
  readPolicy,
  type IndexChange,
  type IndexedChunks,
  type IndexingPolicy,
  type PlannedSegment,
} from './segment-growth.js';
import { quoteIdentifier, type Transaction } from './transaction.js';
import { listSegmentNames, segmentDefinition, segmentName, segmentPrefix } from './vector-segments.js';
import { vectorIndexOf } from './vectors.js';

/** Chunks of a collection that are written between two checks: each check is a separate transaction. */
const lookAfter = 500;
/** Delay if another process is building an index. */
const retryMs = 2_000;
/**
 * The embedded database has one session. After a piece of work it is left to others for so many times as long as the
 * work took: without a pause each statement of a request would wait for another index.
 */
const pauseFactor = 2;

/**
 * Builds HNSW indexes and counts the words of large collections, in the background. It builds an index in bulk, for a
 * range of a collection's latest chunks, once there are too many of them to compare one by one. Before that they do not
 * have an index, and a search compares them exactly.
 */
export class BackgroundIndexer {
  readonly #written = new Map<string, number>();
  readonly #waiting = new Map<string, IndexedChunks>();
  readonly #stopped = new AbortController();
  #working: Promise<void> | undefined;
  #policy: IndexingPolicy | undefined;
  #own: Database | undefined;
  /**
   * Parallel workers share the memory of a build; a container has 64 MB of `/dev/shm` unless its configuration says
   * more.
   */
  #maxWorkers: number | undefined;
  /** Receives failures: a search is right without the index, and the next look or the next start builds it. */
  onFailure: (error: unknown) => void = () => undefined;

  constructor(private readonly database: Database) {}

  /** Called with the number of chunks that were just stored, after their transaction. */
  stored(target: IndexedChunks, chunks: number): void {
    const key = `${target.dimensions} ${target.collection}`;
    const since = (this.#written.get(key) ?? lookAfter) + chunks;
    this.#written.set(key, since < lookAfter ? since : 0);
    if (since >= lookAfter) this.#begin([target]);
  }

  /**
   * Checks every collection: a process may have died before it built an index. Drops the indexes of deleted
   * collections.
   */
  async catchUp(): Promise<void> {
    const targets = await this.database.transaction((transaction) =>
      transaction.query<IndexedChunks>(
        `SELECT collection, embedding_dimensions AS dimensions FROM documents
         WHERE pending_since IS NULL AND chunk_count > 0 GROUP BY 1, 2`,
      ),
    );
    const prefixes = targets.map(({ collection, dimensions }) => segmentPrefix(collection, dimensions));
    await this.#plan(async (transaction) => {
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

  /** Resolves when the running work has ended. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working;
  }

  /** Does not start further work. A server finishes the index that it is building. */
  stop(): void {
    this.#stopped.abort();
    this.#waiting.clear();
  }

  #begin(targets: readonly IndexedChunks[]): void {
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
      await this.#count(target).catch((error) => this.#fail(error));
      await this.#grow(target).catch((error) => this.#fail(error));
    }
  }

  #fail(error: unknown): void {
    if (!this.#stopped.signal.aborted) this.onFailure(error);
  }

  async #count({ collection }: IndexedChunks): Promise<void> {
    for (let counted: boolean | 'busy' = true; counted && !this.#stopped.signal.aborted;) {
      const startedAt = performance.now();
      counted = await this.#alone((transaction, policy) =>
        countWords(transaction, collection, policy.counted),
      );
      if (counted === 'busy') await wait(retryMs, undefined, { ref: false });
      else if (counted) await this.#leaveToOthers(startedAt);
    }
  }

  async #grow(target: IndexedChunks): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const startedAt = performance.now();
      const change = await this.#plan(async (transaction, policy) => {
        const planned = await planGrowth(transaction, target, policy);
        if (planned.build && policy.isEmbedded)
          await transaction.query(`CREATE INDEX ${indexOf(target, planned.build, 'chunks')}`);
        return planned;
      });
      if (change === 'busy') await wait(retryMs, undefined, { ref: false });
      else if (!change.build && change.drop.length === 0) return;
      else if (change.build && !this.#policy?.isEmbedded) {
        const isBuilt = await this.#buildBesideWriters(target, change.build);
        // More chunks came in the meantime, and the next index may take as long.
        if (isBuilt) await this.#count(target);
      } else await this.#leaveToOthers(startedAt);
    }
  }

  /** Waits after work in the embedded database, so that requests run before the next work. A server needs no pause. */
  async #leaveToOthers(startedAt: number): Promise<void> {
    if (!this.#policy?.isEmbedded) return;
    const { signal } = this.#stopped;
    const pauseMs = (performance.now() - startedAt) * pauseFactor;
    await wait(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
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

  /** Plans a change of the indexes and drops the ones to remove, unless an index is being built. */
  async #plan(
    plan: (transaction: Transaction, policy: IndexingPolicy) => Promise<IndexChange>,
  ): Promise<IndexChange | 'busy'> {
    return this.#alone(async (transaction, policy) => {
      const running = `SELECT FROM pg_stat_progress_create_index WHERE relid = 'chunks'::regclass`;
      if ((await transaction.query(running)).length > 0) return 'busy';
      const change = await plan(transaction, policy);
      for (const name of change.drop)
        await transaction.query(`DROP INDEX IF EXISTS ${quoteIdentifier(name)}`);
      return change;
    });
  }

  /**
   * Neither writers nor searches wait. Of two processes that begin at the same time, one fails: their indexes have one
   * name. Returns false where the server lacks shared memory for parallel workers: later builds do without them.
   */
  async #buildBesideWriters(target: IndexedChunks, segment: PlannedSegment): Promise<boolean> {
    const table = `${quoteIdentifier(this.database.schema)}.chunks`;
    const settings = {
      statement_timeout: '0',
      maintenance_work_mem: `${buildMemoryMegabytes}MB`,
      ...(this.#maxWorkers !== undefined && { max_parallel_maintenance_workers: String(this.#maxWorkers) }),
    };
    try {
      await this.#own?.runOutsideTransaction(`CREATE INDEX CONCURRENTLY ${indexOf(target, segment, table)}`, {
        settings,
        signal: this.#stopped.signal,
      });
      return true;
    } catch (error) {
      if (this.#maxWorkers === 0 || !lacksSharedMemory(error)) throw error;
      this.#maxWorkers = 0;
      return false;
    }
  }
}

function indexOf({ collection, dimensions }: IndexedChunks, segment: PlannedSegment, table: string): string {
  const definition = segmentDefinition(collection, dimensions, segment, segment.rows);
  return `${segmentName(collection, dimensions, segment)} ON ${table} ${definition}`;
}
