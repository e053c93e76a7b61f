import { PrioritizedQueue, type Priority, builtFile } from '#platform/foundation';
import { MegaNestError } from '#platform/contracts';
import { WorkerChannel, type EngineChoice, type EngineSettings, type Device } from '#engine/models';
import type { ScoreFunction } from './classification-head.js';
import type { PoolingMode } from './sentence/pooling.js';
import type { HeadStep } from './sentence/head-step.js';

/** The task of an encoder. */
export type EncoderTask = 'embed' | 'rerank' | 'classify';

/** Settings with which an encoder worker loads its model. */
export interface EncoderSettings {
  readonly task: EncoderTask;
  readonly directory: string;
  readonly engine: EngineSettings;
  readonly activations: 'row' | 'tensor';
  readonly device: Device;
  readonly threads: number;
  /** Maximum tokens of an input, including special tokens. */
  readonly maxInputTokens: number;
  /** Token ids are below this. */
  readonly vocabularySize: number;
  readonly padTokenId: number;
  /** What follows the token states; absent if the checkpoint's own classifier does. */
  readonly head?: { readonly pooling: readonly PoolingMode[]; readonly steps: readonly HeadStep[] };
  /** Texts become lower case before the tokenizer reads them. */
  readonly lowercases: boolean;
  /** True if token types mark the words of a pair that match, as in nano-rerank. */
  readonly marksMatches: boolean;
  /** With `classify`: the function from logits to scores. */
  readonly scores?: ScoreFunction;
}

/** First message of an encoder worker: the engine that was chosen. */
export interface EncoderReady extends EngineChoice {
  readonly backend: string;
  /** Numbers per result: the size of a vector, 1 for a relevance, or the number of labels. */
  readonly width: number;
}

/** Token ids with the segment (0 or 1) that each belongs to. */
export interface EncodedSequence {
  readonly ids: readonly number[];
  readonly segments: readonly number[];
}

/**
 * One input: a text, token ids, a query with a passage, or tokens with their segments. With `inWindows` a long text
 * is read in windows, and each number of its result is the maximum over them.
 */
export type EncoderItem =
  | { readonly text: string; readonly truncate: boolean }
  | { readonly text: string; readonly inWindows: true }
  | { readonly ids: readonly number[]; readonly truncate: boolean }
  | { readonly query: string; readonly passage: string; readonly truncate: boolean }
  | { readonly sequence: EncodedSequence };

/**
 * Outcome of an item: its number of tokens, or the reason for refusing it. Row i of the result belongs to item i.
 */
export type EncoderOutcome =
  { readonly tokens: number } | { readonly tooLong: number } | { readonly unknownToken: number };

/** Result of a job. */
export interface EncoderResult {
  readonly outcomes: readonly EncoderOutcome[];
  /** `[items, width]`; rows of refused items are zero. */
  readonly rows: Float32Array;
}

/** Options of {@link EncoderPool}. */
interface EncoderPoolOptions {
  readonly workers: number;
  /** Maximum number of queued inputs of each priority; further requests are refused. */
  readonly queueCapacity: number;
  readonly hangLimitMs?: number;
}

/** Options of {@link EncoderPool.encode}. */
export interface EncodeOptions {
  readonly signal?: AbortSignal;
  /** Default `interactive`. A worker takes interactive inputs before bulk inputs. */
  readonly priority?: Priority;
}

/** The result of one item. */
export interface EncodedRow {
  readonly outcome: EncoderOutcome;
  readonly row: Float32Array;
}

interface PoolRequest {
  readonly rows: EncodedRow[];
  missing: number;
  resolve(rows: EncodedRow[]): void;
  reject(error: Error): void;
}

interface PoolItem {
  readonly request: PoolRequest;
  readonly index: number;
  readonly item: EncoderItem;
}

type EncoderChannel = WorkerChannel<EncoderReady, readonly EncoderItem[], never, EncoderResult>;

/** Tokens per job: enough to batch well, few enough for workers to share a request and for quick cancellation. */
const jobTokens = { min: 128, max: 768 };
/** An interactive input waits for about this time if all workers have bulk work. */
const bulkJobMs = 25;
/** Growth of the least time of a token with each job, so that an old measurement does not count for ever. */
const agingFactor = 1.01;

/**
 * Encoder sessions in worker threads behind one queue; the inputs of all requests share batches of similar length.
 */
export class EncoderPool {
  private readonly queue: PrioritizedQueue<PoolItem>;
  private readonly idle: EncoderChannel[];
  private readonly channels: readonly EncoderChannel[];
  /** Least time of a token in the latest jobs: their average depends on how busy the machine is. */
  private msPerToken = Infinity;

  constructor(
    settings: EncoderSettings,
    private readonly options: EncoderPoolOptions,
  ) {
    const entry = builtFile('encoder.worker');
    this.channels = Array.from(
      { length: options.workers },
      () => new WorkerChannel(entry, settings, options.hangLimitMs),
    );
    this.idle = [...this.channels];
    this.queue = new PrioritizedQueue({ capacity: options.queueCapacity, batchTokens: jobTokens.max });
  }

  /**
   * Loads all workers, the first one alone, because it compiles the model for all. Returns the first worker's
   * message.
   */
  async start(): Promise<EncoderReady> {
    const ready = await this.channels[0]!.start();
    await Promise.all(this.channels.map((channel) => channel.start()));
    return ready;
  }

  /** Encodes items. Returns rows in the order of the items. Errors: overloaded, cancelled, service_unavailable. */
  async encode(
    items: readonly EncoderItem[],
    { signal, priority = 'interactive' }: EncodeOptions = {},
  ): Promise<EncodedRow[]> {
    if (signal?.aborted) throw new MegaNestError('cancelled');
    if (items.length === 0) return [];
    let abandon: (() => void) | undefined;
    try {
      return await new Promise<EncodedRow[]>((resolve, reject) => {
        const request: PoolRequest = { rows: [], missing: items.length, resolve, reject };
        abandon = () => {
          this.queue.remove(request);
          reject(new MegaNestError('cancelled'));
        };
        signal?.addEventListener('abort', abandon, { once: true });
        this.enqueue(request, items, priority);
        this.dispatch();
      });
    } finally {
      if (abandon) signal?.removeEventListener('abort', abandon);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.channels.map((channel) => channel.close()));
  }

  private enqueue(request: PoolRequest, items: readonly EncoderItem[], priority: Priority): void {
    const queued = items.map((item, index) => ({
      tokens: estimateTokens(item),
      value: { request, index, item },
    }));
    if (this.queue.push(request, queued, priority)) return;
    throw new MegaNestError('overloaded', {
      service: 'inference',
      detail: `too many inputs of this client waiting (${this.queue.count(priority)} of all clients)`,
      retryAfter: 1,
    });
  }

  /** Gives each idle worker its share of the queued items; the last one gets the rest, so that no small job follows. */
  private dispatch(): void {
    for (let sharers = this.options.workers; this.idle.length > 0; sharers--) {
      const { next } = this.queue;
      if (!next) return;
      const share = Math.ceil(this.queue.waitingTokens(next) / Math.max(1, sharers));
      const budget = Math.max(jobTokens.min, Math.min(this.mostTokens(next), share));
      void this.runJob(this.idle.pop()!, this.queue.take(budget));
    }
  }

  /** Maximum tokens of a job. A bulk job is short also with a large model, because interactive inputs wait for it. */
  private mostTokens(priority: Priority): number {
    if (priority === 'interactive' || this.msPerToken === Infinity) return jobTokens.max;
    return Math.min(jobTokens.max, Math.round(bulkJobMs / this.msPerToken));
  }

  private measure(job: readonly PoolItem[], startedAt: number): void {
    const tokens = job.reduce((sum, { item }) => sum + estimateTokens(item), 0);
    this.msPerToken = Math.min(this.msPerToken * agingFactor, (performance.now() - startedAt) / tokens);
  }

  private async runJob(channel: EncoderChannel, job: readonly PoolItem[]): Promise<void> {
    const startedAt = performance.now();
    try {
      const result = await channel.call(job.map(({ item }) => item));
      this.measure(job, startedAt);
      const width = result.rows.length / job.length;
      job.forEach(({ request, index }, position) => {
        const row = result.rows.subarray(position * width, (position + 1) * width);
        request.rows[index] = { outcome: result.outcomes[position]!, row };
        if (--request.missing === 0) request.resolve(request.rows);
      });
    } catch (error) {
      for (const request of new Set(job.map(({ request }) => request))) {
        this.queue.remove(request);
        request.reject(error instanceof Error ? error : new Error(String(error)));
      }
    } finally {
      this.idle.push(channel);
      this.dispatch();
    }
  }
}

/** An estimate for sorting; the exact count is known after tokenization in the worker. */
function estimateTokens(item: EncoderItem): number {
  if ('ids' in item) return item.ids.length + 2;
  if ('sequence' in item) return item.sequence.ids.length;
  const characters = 'text' in item ? item.text.length : item.query.length + item.passage.length;
  return Math.ceil(characters / 4) + 2;
}
