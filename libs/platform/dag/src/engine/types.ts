import type { ErrorCode } from '#platform/contracts';
import type { MegaServiceDefinition } from '../definition/types.js';
import type { ParameterValues } from '../definition/parameters.js';

/** The context of a call to a node's runner. */
export interface NodeContext {
  /** Name of the node's mega service (the inner one if nested). */
  readonly megaService: string;
  readonly node: string;
  /** Service to call: the node's, or its fallback's. */
  readonly service: string;
  /**
   * The value of each port: the output of its source node, or (at a port for streams) an AsyncIterable. An optional
   * port is absent if it does not have a source, or if its source was skipped without a bypass.
   */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The request that started the mega service, the same for every node. */
  readonly request: unknown;
  /** Effective, validated parameters. */
  readonly parameters: ParameterValues;
  /** Aborted when the attempt is no longer needed; its reason is an Error. */
  readonly signal: AbortSignal;
  /** Deadline of this attempt in epoch milliseconds; undefined: never. */
  readonly deadline: number | undefined;
  /** 1 for the first attempt; counts retries, hedges and fallbacks of this node. */
  readonly attempt: number;
  /**
   * Adds details to the node's receipt, e.g. `{ queuedMs, model, revision, documentIds }`. `queuedMs` has a field
   * of its own.
   */
  readonly report: (details: Readonly<Record<string, unknown>>) => void;
}

/**
 * Calls the service of a node. It returns one output, or an AsyncIterable of chunks (directly or in the promise).
 * It must stop when the signal aborts. An output `{ cut: true, answer }` short-circuits: see {@link ShortCircuit}.
 */
export type NodeRunner = (context: NodeContext) => Promise<unknown> | AsyncIterable<unknown>;

/**
 * An output that skips all descendants of its node. With `answer` it also ends the run with this answer: in the
 * shape of a chunk if the output node streams, otherwise in the shape of its output.
 */
export interface ShortCircuit {
  readonly cut: true;
  readonly answer?: unknown;
}

/** An event of a run; nodes of nested mega services are named `outer/inner`. */
export type RunEvent =
  | { type: 'attempt-started'; node: string; attempt: number; service: string }
  | { type: 'attempt-failed'; node: string; attempt: number; error: Error }
  | { type: 'stream-started'; node: string }
  | { type: 'node-settled'; node: string; state: SettledState; why?: string };

/** Options of a run. */
export interface RunOptions {
  definition: MegaServiceDefinition;
  request: unknown;
  /** Values for the ports that no node feeds: the inputs of a nested mega service. Default: empty. */
  inputs?: Readonly<Record<string, unknown>>;
  /** Parameters of the request, by flat name (see pickParameters). Default: empty. */
  parameters?: ParameterValues;
  run: NodeRunner;
  /** Cancels the run. */
  signal?: AbortSignal;
  /** Epoch milliseconds at which the run fails with deadline_exceeded. Default never. */
  deadline?: number;
  /** The current deadline, if chunks of the answer extend it. */
  currentDeadline?: () => number;
  /** Listener; its errors are ignored. */
  onEvent?: (event: RunEvent) => void;
}

/** A running mega service. */
export interface RunHandle {
  /**
   * The chunks of the output node if it streams, otherwise its one output. It ends after the whole run has ended,
   * and throws the run's error. Leaving the iteration early cancels the run.
   */
  readonly stream: AsyncIterable<unknown>;
  /** The output; of a stream the collected chunks. Rejects with a MegaNestError, which is never unhandled. */
  readonly result: Promise<unknown>;
  /** Resolves (never rejects) when all nodes, timers and listeners of the run have ended. */
  readonly settled: Promise<RunReceipt>;
  /** Returns the current receipt. */
  receipt(): RunReceipt;
  /** Stops all nodes; the result rejects with `cancelled`. Does nothing after the end. */
  cancel(): void;
}

/** State of a node. `waiting` and `running` occur only during the run. */
export type NodeState = 'waiting' | 'running' | SettledState;

/** Final state of a node. */
export type SettledState = 'ok' | 'skipped' | 'failed' | 'cancelled';

/** Report of a node: its final state and its times. */
export interface NodeReceipt {
  node: string;
  service: string;
  state: NodeState;
  /** Reason for skipping, failing or cancelling it. */
  why?: string;
  /** Code of the error for which it failed or, if it is optional, was skipped. */
  code?: ErrorCode;
  /** Epoch milliseconds; absent if it never ran. */
  startedAt?: number;
  /** Milliseconds in the service's queue, as reported by its runner. */
  queuedMs: number;
  /** Milliseconds from start to end, including retries and waits between them. */
  runMs: number;
  /** Milliseconds from start to the first chunk; streaming nodes only. */
  firstChunkMs?: number;
  /** Number of calls of the service. */
  attempts: number;
  /** Set if the output is from the fallback or the hedge. */
  from?: 'fallback' | 'hedge';
  /** Details reported by the runner: documents, model, tokens. */
  details?: Record<string, unknown>;
  /** Receipt of a nested mega service. */
  nested?: RunReceipt;
}

/** Report of a run: the times of its nodes in topological order. */
export interface RunReceipt {
  megaService: string;
  state: 'running' | 'ok' | 'failed' | 'cancelled';
  /** Epoch milliseconds. */
  startedAt: number;
  runMs: number;
  nodes: NodeReceipt[];
}

/** True for an output that short-circuits. */
export function isShortCircuit(output: unknown): output is ShortCircuit {
  return typeof output === 'object' && output !== null && 'cut' in output && output.cut === true;
}
