import type { Metrics } from '#service-kit';
import type { EngineLoad } from '#generation';

/** Shows in the metrics what a local engine is busy with. */
export function watchEngine(metrics: Pick<Metrics, 'watch'>, load: () => Promise<EngineLoad>): void {
  metrics.watch(
    { name: 'meganest_engine_requests', help: 'Requests in the engine', label: 'state' },
    async () => {
      const { running, waiting } = await load();
      return { running, waiting };
    },
  );
  metrics.watch(
    { name: 'meganest_engine_cache_bytes', help: 'Memory of keys and values', label: 'kind' },
    async () => {
      const { sequenceBytes, prefixBytes } = await load();
      return { sequences: sequenceBytes, prefixes: prefixBytes };
    },
  );
}
