/**
 * Metrics of a service's process since the last reading; the delays of its event loop are reset by each reading.
 */
export interface ProcessMetrics {
  /** 99 of 100 turns of the event loop came no later than this; 10 ms is the monitor's own grain. */
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
  /** Processor time since the process began. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** Reads /metrics. */
export async function processMetrics(serviceUrl: string): Promise<ProcessMetrics> {
  const text = await (await fetch(`${serviceUrl}/metrics`)).text();
  const value = (name: string) => {
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${name}{`));
    return Number(line?.slice(line.lastIndexOf(' ')));
  };
  return {
    loopDelayP99Ms: value('nodejs_eventloop_lag_p99_seconds') * 1000,
    loopDelayMaxMs: value('nodejs_eventloop_lag_max_seconds') * 1000,
    cpuSeconds: value('process_cpu_seconds_total'),
    residentBytes: value('process_resident_memory_bytes'),
  };
}
