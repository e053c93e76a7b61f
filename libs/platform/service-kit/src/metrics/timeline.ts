import type { LatencyDigest, OperationDigest, TimelinePoint } from '#platform/contracts';

/** Length of a step, and how many are kept: ten minutes. */
export const stepSeconds = 10;
const maxSteps = 60;
/** Latencies of a step that are kept: a sample of them, chosen evenly. */
const maxSamples = 500;

interface Step {
  at: number;
  count: number;
  errors: number;
  latencies: Sample;
  firstTokens: Sample;
}

/** An even sample of values (reservoir sampling). */
class Sample {
  readonly #values: number[] = [];
  #seen = 0;
  #sum = 0;

  add(value: number): void {
    this.#seen += 1;
    this.#sum += value;
    if (this.#values.length < maxSamples) this.#values.push(value);
    else {
      const place = Math.floor(Math.random() * this.#seen);
      if (place < maxSamples) this.#values[place] = value;
    }
  }

  get seen(): number {
    return this.#seen;
  }

  get sum(): number {
    return this.#sum;
  }

  /** Each value with the number of values that it represents. */
  weighted(): [value: number, weight: number][] {
    return this.#values.map((value) => [value, this.#seen / this.#values.length]);
  }

  quantile(share: number): number | null {
    const sorted = this.#values.toSorted((a, b) => a - b);
    return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? null;
  }
}

/** The last ten minutes of each operation in steps, for charts. */
export class Timeline {
  readonly #steps = new Map<string, Step[]>();

  /** An operation has ended; only successful operations count for latencies. */
  end(operation: string, outcome: 'ok' | 'error' | 'cancelled', seconds: number, now = Date.now()): void {
    const step = this.#stepOf(operation, now);
    step.count += 1;
    if (outcome === 'error') step.errors += 1;
    if (outcome === 'ok') step.latencies.add(seconds);
  }

  firstToken(operation: string, seconds: number, now = Date.now()): void {
    this.#stepOf(operation, now).firstTokens.add(seconds);
  }

  /** Steps in which something happened, oldest first, by operation. */
  points(now = Date.now()): Record<string, TimelinePoint[]> {
    const oldest = now - maxSteps * stepSeconds * 1000;
    const entries = [...this.#steps].map(
      ([operation, steps]) => [operation, steps.filter(({ at }) => at >= oldest).map(toPoint)] as const,
    );
    return Object.fromEntries(entries.filter(([, points]) => points.length > 0));
  }

  /** The latencies of all steps together, by operation. */
  digests(now = Date.now()): Record<string, OperationDigest> {
    const oldest = now - maxSteps * stepSeconds * 1000;
    const entries = [...this.#steps].map(([operation, all]) => {
      const steps = all.filter(({ at }) => at >= oldest);
      const latencies = digestOf(steps.map((step) => step.latencies));
      return [
        operation,
        { latencies, firstTokens: digestOf(steps.map((step) => step.firstTokens)) },
      ] as const;
    });
    return Object.fromEntries(entries.filter(([, { latencies }]) => latencies.count > 0));
  }

  #stepOf(operation: string, now: number): Step {
    const at = Math.floor(now / (stepSeconds * 1000)) * stepSeconds * 1000;
    const steps = this.#steps.get(operation) ?? [];
    this.#steps.set(operation, steps);
    const last = steps.at(-1);
    if (last && last.at >= at) return last;
    const step = { at, count: 0, errors: 0, latencies: new Sample(), firstTokens: new Sample() };
    steps.push(step);
    if (steps.length > maxSteps) steps.shift();
    return step;
  }
}

function toPoint({ at, count, errors, latencies, firstTokens }: Step): TimelinePoint {
  return {
    at,
    count,
    errors,
    p50_latency: latencies.quantile(0.5),
    p99_latency: latencies.quantile(0.99),
    p50_latency_first_token: firstTokens.quantile(0.5),
  };
}

/** Latencies of a digest. */
const digestPoints = 200;

function digestOf(samples: readonly Sample[]): LatencyDigest {
  const count = samples.reduce((all, { seen }) => all + seen, 0);
  const values = samples.flatMap((sample) => sample.weighted());
  const points = Math.min(digestPoints, values.length);
  const shares = Array.from({ length: points }, (_unused, index) => (index + 0.5) / points);
  return {
    count,
    sum: samples.reduce((all, { sum }) => all + sum, 0),
    points: weightedQuantiles(values, shares),
  };
}

/** The values at these shares of the whole weight; `shares` in ascending order. */
export function weightedQuantiles(
  values: readonly (readonly [value: number, weight: number])[],
  shares: readonly number[],
): number[] {
  const sorted = values.toSorted(([a], [b]) => a - b);
  const whole = sorted.reduce((sum, [, weight]) => sum + weight, 0);
  const found: number[] = [];
  let passed = 0;
  let index = 0;
  for (const share of shares) {
    while (index < sorted.length - 1 && passed + sorted[index]![1] < share * whole) {
      passed += sorted[index]![1];
      index += 1;
    }
    if (sorted[index]) found.push(sorted[index]![0]);
  }
  return found;
}
