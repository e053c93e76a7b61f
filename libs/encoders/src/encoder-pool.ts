import { MegaNestError } from '#contracts';
import { QueueFullError, TokenBudgetQueue } from '#batching';
import { builtFile } from '#paths';
import { WorkerChannel } from '#models';
import type {
  EncoderItem,
  EncoderOutcome,
  EncoderReady,
  EncoderResult,
  EncoderSettings,
} from './encoder-messages.js';

/** Options of {@link EncoderPool}. */
export interface EncoderPoolOptions {
  readonly workers: number;
  /** Maximum number of queued inputs; further requests are refused. */
  readonly queueCapacity: number;
  readonly hangLimitMs?: number;
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

/**
 * Encoder sessions in worker threads behind one queue; the inputs of all requests share batches of similar length.
 */
export class EncoderPool {
  private readonly queue: TokenBudgetQueue<PoolItem>;
  private readonly idle: EncoderChannel[];
  private readonly channels: readonly EncoderChannel[];

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
    this.queue = new TokenBudgetQueue(options.queueCapacity);
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
  async encode(items: readonly EncoderItem[], signal?: AbortSignal): Promise<EncodedRow[]> {
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
        this.enqueue(request, items);
        this.dispatch();
      });
    } finally {
      if (abandon) signal?.removeEventListener('abort', abandon);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.channels.map((channel) => channel.close()));
  }

  private enqueue(request: PoolRequest, items: readonly EncoderItem[]): void {
    try {
      this.queue.push(
        request,
        items.map((item, index) => ({ tokens: estimateTokens(item), value: { request, index, item } })),
      );
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error;
      throw new MegaNestError('overloaded', {
        service: 'inference',
        detail: `${this.queue.length} inputs waiting`,
        retryAfter: 1,
      });
    }
  }

  /** Every idle worker gets its share of what waits; the last one gets all that is left, so that no small job follows. */
  private dispatch(): void {
    for (let sharers = this.options.workers; this.idle.length > 0 && this.queue.length > 0; sharers--) {
      const share = Math.ceil(this.queue.waitingTokens / Math.max(1, sharers));
      const budget = Math.min(jobTokens.max, Math.max(jobTokens.min, share));
      void this.runJob(this.idle.pop()!, this.queue.take(budget));
    }
  }

  private async runJob(channel: EncoderChannel, job: readonly PoolItem[]): Promise<void> {
    try {
      const result = await channel.call(job.map(({ item }) => item));
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
