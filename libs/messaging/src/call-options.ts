import type { Patience } from '#contracts';

/** What travels with a call beside its payload. */
export interface CallOptions {
  /** Shared by all calls that one user request causes. */
  requestId?: string;
  /** Point in time, in epoch milliseconds, after which the caller does not wait for the answer. */
  deadline?: number;
  /** In the place of the deadline: each reply of a stream puts it off. */
  patience?: Patience;
  /** W3C trace context of the caller. */
  traceparent?: string;
  /** Calls with the same key go to the same instance as long as that is not busier than others, e.g. for its prefix cache. */
  affinity?: string;
  /** The model that is asked: an instance that announces it gets the call, where there is one. */
  model?: string;
  /** Aborting it stops the work on the other side. */
  signal?: AbortSignal;
}

/** A call without a deadline of its own gives up after this long. */
export const defaultTimeoutMs = 120_000;
