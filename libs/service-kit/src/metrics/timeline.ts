import type { TimelinePoint } from '#contracts';

/** Length of a step, and how many are kept: ten minutes. */
export const stepSeconds = 10;
const mostSteps = 60;
/** Latencies of a step that are kept: a sample of them, chosen evenly. */
const mostSamples = 500;

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

  add(value: number): void {
    this.#seen += 1;
    if (this.#values.length < mostSamples) this.#values.push(value);
    else {
      const place = Math.floor(Math.random() * this.#seen);
      if (place < mostSamples) this.#values[place] = value;
    }
  }

  quantile(share: number): number | null {
    const sorted = this.#values.toSorted((a, b) => a - b);
    return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? null;
  }
}

/** The last ten minutes of each operation in steps, for charts. */
export class Timeline {
  readonly #steps = new Map<string, Step[]>();

  /** An operation has ended; only those that went well count for latencies. */
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
    const oldest = now - mostSteps * stepSeconds * 1000;
    const entries = [...this.#steps].map(
      ([operation, steps]) => [operation, steps.filter(({ at }) => at >= oldest).map(toPoint)] as const,
    );
    return Object.fromEntries(entries.filter(([, points]) => points.length > 0));
  }

  #stepOf(operation: string, now: number): Step {
    const at = Math.floor(now / (stepSeconds * 1000)) * stepSeconds * 1000;
    const steps = this.#steps.get(operation) ?? [];
    this.#steps.set(operation, steps);
    const last = steps.at(-1);
    if (last && last.at >= at) return last;
    const step = { at, count: 0, errors: 0, latencies: new Sample(), firstTokens: new Sample() };
    steps.push(step);
    if (steps.length > mostSteps) steps.shift();
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
