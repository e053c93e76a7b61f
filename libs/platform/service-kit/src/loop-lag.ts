import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

const resolutionMs = 10;
/** The watch goes on for this long after the last work. */
const restMs = 2_000;

/**
 * The delay of this process's event loop, 10 ms while nothing holds it up. It is measured by a timer, which would wake an idle
 * process a hundred times a second. So it runs only around work that {@link stir} announces.
 */
class LoopLag {
  readonly #delays = monitorEventLoopDelay({ resolution: resolutionMs });
  #rest: NodeJS.Timeout | undefined;

  /** Work begins: a request, a call. */
  stir(): void {
    if (this.#rest) {
      this.#rest.refresh();
      return;
    }
    this.#delays.enable();
    this.#rest = setTimeout(() => {
      this.#delays.disable();
      this.#rest = undefined;
    }, restMs).unref();
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
