import { busiestClients } from '#platform/foundation';
import {
  MegaNestError,
  type GenerationChunk,
  type LatencyDigest,
  type OperationDigest,
  type Support,
} from '#platform/contracts';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, Summary } from 'prom-client';
import { z } from 'zod';
import { startGenAi, type GenAiCall, type GenAiMeasurement } from '../tracing/gen-ai.js';
import { loopLag } from '../loop-lag.js';
import { Timeline, weightedQuantiles } from './timeline.js';

const latency = z.number().nullable().describe('Seconds');

/** Latencies of an operation, in the reference implementation's field names. */
export const latencyStatisticsSchema = z.object({
  p50_latency: latency,
  p99_latency: latency,
  average_latency: latency,
  p50_latency_first_token: latency.optional(),
  p99_latency_first_token: latency.optional(),
  average_latency_first_token: latency.optional(),
  count: z.int(),
  instances: z.int().optional().describe('With the scope cluster: number of instances'),
});
export type LatencyStatistics = z.infer<typeof latencyStatisticsSchema>;

type SummaryValues = Awaited<ReturnType<Summary['get']>>['values'];

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** `/v1/statistics` looks back this long. */
const windowSeconds = 600;
/** Entries are written in batches, after this time or at this number. */
const entryDelayMs = 500;
const maxEntries = 100;
/** The longest time of a timer, 24 days. */
const neverMs = 2 ** 31 - 1;

/**
 * The numbers of one service: latencies per operation, what runs now, errors; as statistics and for Prometheus. Events
 * are entered a moment later, so that no answer waits for them, and before the numbers are read.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #timeline = new Timeline();
  readonly #watched = new Map<string, () => Promise<Readonly<Record<string, number>>>>();
  #entries: (() => void)[] = [];
  #entryTimer: NodeJS.Timeout | undefined;
  readonly #enterAll = (): void => {
    clearTimeout(this.#entryTimer);
    this.#entryTimer = undefined;
    const entries = this.#entries;
    this.#entries = [];
    for (const enter of entries) enter();
  };
  readonly #duration = new Histogram({
    name: 'meganest_operation_duration_seconds',
    help: 'Time from the start of an operation to its end',
    labelNames: ['operation', 'outcome'],
    buckets: durationBuckets,
    registers: [this.registry],
    collect: this.#enterAll,
  });
  readonly #firstToken = new Histogram({
    name: 'meganest_first_token_seconds',
    help: 'Time from the start of a generation to its first token',
    labelNames: ['operation'],
    buckets: durationBuckets,
    registers: [this.registry],
    collect: this.#enterAll,
  });
  readonly #pending = new Gauge({
    name: 'meganest_operations_pending',
    help: 'Operations that run now',
    labelNames: ['operation'],
    registers: [this.registry],
    collect: this.#enterAll,
  });
  readonly #tokens = new Counter({
    name: 'meganest_tokens_total',
    help: 'Tokens read (prompt) and written (completion)',
    labelNames: ['kind'],
    registers: [this.registry],
    collect: this.#enterAll,
  });
  readonly #degraded = new Counter({
    name: 'meganest_degraded_total',
    help: 'Answers that were made without a step, which failed or came too late',
    labelNames: ['operation', 'step', 'reason'],
    registers: [this.registry],
    collect: this.#enterAll,
  });
  readonly #statements = new Counter({
    name: 'meganest_statements_total',
    help: 'Statements of answers that a model wrote from documents, with and without a citation',
    labelNames: ['cited'],
    registers: [this.registry],
    collect: this.#enterAll,
  });
  readonly #unknownCitations = new Counter({
    name: 'meganest_unknown_citations_total',
    help: 'Numbers in answers without a passage, which were removed',
    registers: [this.registry],
    collect: this.#enterAll,
  });
  /** Merges the measurements of all instances; only on the gateway. */
  gatherAll: (() => Promise<Record<string, LatencyStatistics>>) | undefined;
  readonly #latencies = this.#summary(
    'meganest_operation_latency_seconds',
    'Latency quantiles of ten minutes',
  );
  readonly #firstTokenLatencies = this.#summary(
    'meganest_first_token_latency_seconds',
    'First token quantiles',
  );

  constructor(service: string) {
    this.registry.setDefaultLabels({ service });
    this.#ofProcess();
    this.#clientWork();
  }

  /** prom-client's own watch of the event loop would wake an idle process a hundred times a second. */
  #ofProcess(): void {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: neverMs });
    for (const { name } of this.registry.getMetricsAsArray())
      if (name.startsWith('nodejs_eventloop_lag')) this.registry.removeSingleMetric(name);
    loopLag.register(this.registry);
  }

  /** The work of the ten busiest clients, whose names are hashed. */
  #clientWork(): void {
    // oxlint-disable-next-line no-new -- the registry keeps it
    new Gauge({
      name: 'meganest_client_work',
      help: 'Work for the ten busiest clients since the start: tokens that were read, seconds of threads and processes',
      labelNames: ['client', 'unit'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const unit of ['tokens', 'seconds'] as const)
          for (const [client, work] of Object.entries(busiestClients(unit))) this.set({ client, unit }, work);
      },
    });
  }

  /** Starts an operation; call the result with its outcome when it ends, once. */
  start(operation: string): Operation {
    const startedAt = performance.now();
    const elapsed = () => (performance.now() - startedAt) / 1000;
    let ended = false;
    loopLag.stir();
    this.#enter(() => this.#pending.inc({ operation }));
    return {
      firstToken: () => {
        const seconds = elapsed();
        this.#enter(() => {
          this.#timeline.firstToken(operation, seconds);
          this.#firstToken.observe({ operation }, seconds);
          this.#firstTokenLatencies.observe({ operation }, seconds);
        });
      },
      end: (outcome) => {
        if (ended) return;
        ended = true;
        const seconds = elapsed();
        this.#enter(() => {
          this.#pending.dec({ operation });
          this.#timeline.end(operation, outcome, seconds);
          this.#duration.observe({ operation, outcome }, seconds);
          if (outcome === 'ok') this.#latencies.observe({ operation }, seconds);
        });
      },
    };
  }

  /** Measures one asynchronous operation. */
  async measure<Result>(operation: string, work: () => Promise<Result>): Promise<Result> {
    const running = this.start(operation);
    try {
      const result = await work();
      running.end('ok');
      return result;
    } finally {
      running.end('error');
    }
  }

  /**
   * Adds a gauge whose values, one for each value of a label, are read with each request for the metrics. A value that
   * cannot be read stays the same.
   */
  watch(
    gauge: { name: string; help: string; label: string },
    read: () => Promise<Readonly<Record<string, number>>>,
  ): void {
    const { name, help, label } = gauge;
    this.#watched.set(name, read);
    const shown = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [],
      async collect() {
        const values = await read().catch(() => ({}));
        for (const [value, number] of Object.entries(values)) this.set({ [label]: value }, number);
      },
    });
    this.registry.registerMetric(shown);
  }

  /** Adds a gauge with several labels, whose rows are read with each request for the metrics. */
  watchRows(
    gauge: { name: string; help: string; labels: readonly string[] },
    read: () => readonly { labels: Record<string, string>; value: number }[],
  ): void {
    const { name, help, labels } = gauge;
    // oxlint-disable-next-line no-new -- the registry keeps it
    new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const row of read()) this.set(row.labels, row.value);
      },
    });
  }

  /** Counts tokens; ignores invalid numbers, which a remote engine may report. */
  countTokens(kind: 'prompt' | 'completion', count: number): void {
    if (!Number.isFinite(count) || count < 0) return;
    this.#enter(() => this.#tokens.inc({ kind }, count));
  }

  /** Counts an answer of an operation that was made without a step. */
  countDegraded(operation: string, step: string, reason: string): void {
    this.#enter(() => this.#degraded.inc({ operation, step, reason }));
  }

  /** Counts the statements of an answer, and its numbers without a passage. */
  countSupport({ statements, cited, unknown }: Support): void {
    this.#enter(() => {
      this.#statements.inc({ cited: 'true' }, cited);
      this.#statements.inc({ cited: 'false' }, statements - cited);
      this.#unknownCitations.inc(unknown.length);
    });
  }

  /** The current values by the names of the gauges; a gauge that cannot be read is absent. */
  async watched(): Promise<Record<string, Readonly<Record<string, number>>>> {
    const read = [...this.#watched].map(async ([name, values]) => [name, await values()] as const);
    const settled = await Promise.allSettled(read);
    return Object.fromEntries(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
  }

  /** The last ten minutes in steps, by operation. */
  timeline(): ReturnType<Timeline['points']> {
    this.#enterAll();
    return this.#timeline.points();
  }

  /** The latencies of the last ten minutes, in a form that can be merged over instances. */
  digests(): Record<string, OperationDigest> {
    this.#enterAll();
    return this.#timeline.digests();
  }

  async statistics(): Promise<Record<string, LatencyStatistics>> {
    const total = (await this.#latencies.get()).values;
    const first = (await this.#firstTokenLatencies.get()).values;
    const operations = new Set(total.map(({ labels }) => String(labels['operation'])));
    return Object.fromEntries(
      [...operations].map((name) => [
        name,
        latencyStatistics(quantiles(name, total), quantiles(name, first)),
      ]),
    );
  }

  #enter(entry: () => void): void {
    if (this.#entries.push(entry) >= maxEntries) this.#enterAll();
    else this.#entryTimer ??= setTimeout(this.#enterAll, entryDelayMs).unref();
  }

  #summary(name: string, help: string): Summary<'operation'> {
    return new Summary({
      name,
      help,
      labelNames: ['operation'],
      percentiles: [0.5, 0.99],
      maxAgeSeconds: windowSeconds,
      ageBuckets: 5,
      registers: [this.registry],
      collect: this.#enterAll,
    });
  }
}

export interface Operation {
  firstToken(): void;
  end(outcome: 'ok' | 'error' | 'cancelled'): void;
}

function latencyStatistics(all: Quantiles, firstToken: Quantiles): LatencyStatistics {
  return {
    p50_latency: all.p50,
    p99_latency: all.p99,
    average_latency: all.average,
    ...(firstToken.count > 0 && {
      p50_latency_first_token: firstToken.p50,
      p99_latency_first_token: firstToken.p99,
      average_latency_first_token: firstToken.average,
    }),
    count: all.count,
  };
}

type Quantiles = ReturnType<typeof quantiles>;

function quantiles(operation: string, values: SummaryValues) {
  const own = values.filter(({ labels }) => labels['operation'] === operation);
  const quantile = (q: number) => own.find(({ labels }) => labels['quantile'] === q)?.value ?? null;
  const ending = (suffix: string) => own.find(({ metricName }) => metricName?.endsWith(suffix))?.value ?? 0;
  const count = ending('_count');
  return {
    p50: quantile(0.5),
    p99: quantile(0.99),
    average: count > 0 ? ending('_sum') / count : null,
    count,
  };
}

/**
 * Records the time of one generation to its first token, its duration and its outcome. The first token is the first
 * chunk with text, reasoning or a tool call. `genAi` says what OpenTelemetry shows of it.
 */
export class GenerationMeasure {
  readonly #running: Operation;
  #waiting = true;
  #outcome: 'ok' | 'error' | 'cancelled' = 'cancelled';

  readonly #genAi: GenAiMeasurement | undefined;
  #usage: GenerationChunk['usage'];
  #failure: unknown = new MegaNestError('cancelled');

  constructor(metrics: Pick<Metrics, 'start'>, operation: string, genAi?: GenAiCall) {
    this.#running = metrics.start(operation);
    this.#genAi = genAi && startGenAi(genAi);
  }

  /** Takes note of a chunk before it is passed on. */
  note(chunk: GenerationChunk): void {
    this.#usage = chunk.usage ?? this.#usage;
    if (!this.#waiting || !hasOutput(chunk)) return;
    this.#running.firstToken();
    this.#genAi?.firstToken();
    this.#waiting = false;
  }

  /** It has come to its own end. */
  succeed(): void {
    this.#outcome = 'ok';
    this.#failure = undefined;
  }

  /** It has ended with an error, which may say that it was cancelled. Throws this error again. */
  fail(error: unknown): never {
    this.#failure = error;
    if (!(error instanceof MegaNestError && error.code === 'cancelled')) this.#outcome = 'error';
    throw error;
  }

  /** Records the outcome; without another one the consumer has left early. */
  end(): void {
    this.#running.end(this.#outcome);
    this.#genAi?.end({ usage: this.#usage, error: this.#failure });
  }
}

/**
 * Passes a generation through and measures it; a consumer that leaves early has cancelled it. With `countUsage` the
 * tokens of the final usage are counted, too. `onChunk` gets each chunk before it is passed on.
 */
export async function* measureGeneration(
  metrics: Pick<Metrics, 'start' | 'countTokens'>,
  operation: string,
  chunks: AsyncIterable<GenerationChunk>,
  {
    countUsage = false,
    genAi,
    onChunk,
  }: { countUsage?: boolean; genAi?: GenAiCall; onChunk?: (chunk: GenerationChunk) => void } = {},
): AsyncGenerator<GenerationChunk, void, void> {
  const measure = new GenerationMeasure(metrics, operation, genAi);
  try {
    for await (const chunk of chunks) {
      measure.note(chunk);
      onChunk?.(chunk);
      if (countUsage && chunk.usage) {
        metrics.countTokens('prompt', chunk.usage.promptTokens);
        metrics.countTokens('completion', chunk.usage.completionTokens);
      }
      yield chunk;
    }
    measure.succeed();
  } catch (error) {
    measure.fail(error);
  } finally {
    measure.end();
  }
}

function hasOutput({ text, reasoning, toolCalls }: GenerationChunk): boolean {
  return text !== '' || reasoning !== undefined || toolCalls !== undefined;
}

/** Merges the measurements of the same operations on many instances. */
export function sumDigests(
  instances: readonly Readonly<Record<string, OperationDigest>>[],
): Record<string, LatencyStatistics> {
  const names = [...new Set(instances.flatMap(Object.keys))].toSorted();
  const entries = names.map((name) => {
    const found = instances.flatMap((operations) => operations[name] ?? []);
    const all = sumOf(found.map(({ latencies }) => latencies));
    const first = sumOf(found.map(({ firstTokens }) => firstTokens));
    return [name, { ...latencyStatistics(all, first), instances: found.length }] as const;
  });
  return Object.fromEntries(entries);
}

function sumOf(digests: readonly LatencyDigest[]): Quantiles {
  const count = digests.reduce((all, digest) => all + digest.count, 0);
  const sum = digests.reduce((all, digest) => all + digest.sum, 0);
  const values = digests.flatMap(({ count: own, points }) =>
    points.map((point) => [point, own / points.length] as const),
  );
  const [p50 = null, p99 = null] = weightedQuantiles(values, [0.5, 0.99]);
  return { p50, p99, average: count > 0 ? sum / count : null, count };
}
