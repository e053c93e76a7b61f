import { createHistogram } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

const resolutionMs = 10;
/** The watch goes on for this long after the last work. */
const restMs = 2_000;

/**
 * The delay of this process's event loop, 10 ms while nothing holds it up. A timer measures it, which would wake an idle
 * process a hundred times a second. So it runs only around work that {@link stir} announces. Node's own monitor does not
 * count the time before its first tick, which the work itself may take.
 */
class LoopLag {
  readonly #delays = createHistogram();
  #timer: NodeJS.Timeout | undefined;
  #tickedAt = 0;
  #restAt = 0;

  /** Work begins: a request, a call. */
  stir(): void {
    const now = performance.now();
    this.#restAt = now + restMs;
    if (this.#timer) return;
    this.#tickedAt = now;
    this.#timer = setInterval(() => this.#tick(), resolutionMs).unref();
  }

  #tick(): void {
    const now = performance.now();
    this.#delays.record(Math.max(1, Math.round((now - this.#tickedAt) * 1e6)));
    this.#tickedAt = now;
    if (now < this.#restAt) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Adds gauges with the delays since the last request for the metrics; 0.01 where there was no work. */
  register(registry: Registry): void {
    const quantiles = { p50: 50, p90: 90, p99: 99 };
    const gauge = (name: string, collect: (this: Gauge) => void) =>
      registry.registerMetric(
        new Gauge({
          name: `nodejs_eventloop_lag_${name}_seconds`,
          help: `Delay of the event loop while it worked: ${name}; ${resolutionMs / 1000} without a delay`,
          registers: [],
          collect,
        }),
      );
    const seconds = (nanoseconds: number) =>
      this.#delays.count === 0 ? resolutionMs / 1000 : nanoseconds / 1e9;
    for (const [name, percentile] of Object.entries(quantiles)) {
      const read = () => seconds(this.#delays.percentile(percentile));
      gauge(name, function set() {
        this.set(read());
      });
    }
    // The last of them: the next delays count from here on.
    const takeMax = () => {
      const max = seconds(this.#delays.max);
      this.#delays.reset();
      return max;
    };
    gauge('max', function set() {
      this.set(takeMax());
    });
  }
}

/** A process has one event loop. */
export const loopLag = new LoopLag();
