/** What happened to an operation within one step of time; latencies in seconds, null where none was measured. */
export interface TimelinePoint {
  /** Milliseconds since 1970 at which the step begins. */
  at: number;
  count: number;
  errors: number;
  p50_latency: number | null;
  p99_latency: number | null;
  p50_latency_first_token: number | null;
}

/** The last ten minutes in steps, as `/v1/statistics/timeline` tells them: those in which something ended, by operation. */
export interface Timeline {
  step_seconds: number;
  operations: Record<string, TimelinePoint[]>;
}
