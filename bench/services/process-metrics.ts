import { setTimeout as wait } from 'node:timers/promises';

/**
 * Metrics of a service's process since the last reading; the delays of its event loop are reset by each reading.
 */
export interface ProcessMetrics {
  /** p99 of the delay of the event loop; the resolution of the monitor is 10 ms. */
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

/** Returns the number of pending operations of a service. */
export async function pendingOperations(serviceUrl: string): Promise<number> {
  const text = await (await fetch(`${serviceUrl}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('meganest_operations_pending{'));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Returns the number of operations that stay pending after the last requests, with time to end. */
export async function settledPendingOperations(serviceUrls: readonly string[]): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const pending = await Promise.all(serviceUrls.map(pendingOperations));
    const sum = pending.reduce((total, value) => total + value, 0);
    if (sum === 0 || attempt === 20) return sum;
    await wait(500);
  }
}
