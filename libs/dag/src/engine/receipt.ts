/** What became of a node. `waiting` and `running` are seen only while the run lasts. */
export type NodeState = 'waiting' | 'running' | SettledState;

/** How a node ended. */
export type SettledState = 'ok' | 'skipped' | 'failed' | 'cancelled';

/** Where a node's time went and how it ended. */
export interface NodeReceipt {
  node: string;
  service: string;
  state: NodeState;
  /** Why it was skipped, failed or cancelled. */
  why?: string;
  /** Epoch milliseconds; absent when it never ran. */
  startedAt?: number;
  /** Milliseconds that the service kept it in its queue, as its runner reported. */
  queuedMs: number;
  /** Milliseconds from the start to the end, retries and waits between them included. */
  runMs: number;
  /** Milliseconds from the start to the first chunk; streaming nodes only. */
  firstChunkMs?: number;
  /** How often the service was called. */
  attempts: number;
  /** Set when the output is not that of the usual call. */
  from?: 'fallback' | 'hedge';
  /** What the runner reported: documents, model, tokens. */
  details?: Record<string, unknown>;
  /** Of a nested mega service. */
  nested?: RunReceipt;
}

/** Where a request's time went, node by node in topological order. */
export interface RunReceipt {
  megaService: string;
  state: 'running' | 'ok' | 'failed' | 'cancelled';
  /** Epoch milliseconds. */
  startedAt: number;
  runMs: number;
  nodes: NodeReceipt[];
}
