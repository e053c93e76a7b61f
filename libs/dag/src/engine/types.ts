import type { MegaServiceDefinition } from '../definition/types.js';
import type { ParameterValues } from '../parameters/resolve.js';
import type { RunReceipt, SettledState } from './receipt.js';

/** What a node's runner is given. */
export interface NodeContext {
  /** Name of the mega service that the node belongs to (the inner one, where they are nested). */
  readonly megaService: string;
  readonly node: string;
  /** Service to call: the node's, or its fallback's. */
  readonly service: string;
  /**
   * What arrived at each port: the output of the node that feeds it, or (at a port for streams) an AsyncIterable.
   * An optional port that nothing feeds, or whose node was skipped without a stand-in, is absent.
   */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The request that started the mega service, the same for every node. */
  readonly request: unknown;
  /** Effective and validated. */
  readonly parameters: ParameterValues;
  /** Aborted when the attempt is no longer wanted; its reason says why. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds at which this attempt is given up; undefined: never. */
  readonly deadline: number | undefined;
  /** 1 for the first attempt; counts retries, hedges and fallbacks of this node. */
  readonly attempt: number;
  /** Adds to the node's receipt, e.g. `{ queuedMs, model, revision, documentIds }`. `queuedMs` has a field of its own. */
  readonly report: (details: Readonly<Record<string, unknown>>) => void;
}

/**
 * Calls the service of a node. It gives one output, or an AsyncIterable of chunks (directly or as the promise's
 * value). It must stop when the signal aborts. An output `{ cut: true, answer }` is a verdict: see {@link Verdict}.
 */
export type NodeRunner = (context: NodeContext) => Promise<unknown> | AsyncIterable<unknown>;

/**
 * An output of a node that cuts everything below it. With `answer` the run ends there and this is its answer: in
 * the shape of a chunk where the output node streams, else in the shape of the output.
 */
export interface Verdict {
  readonly cut: true;
  readonly answer?: unknown;
}

/** What happens in a run; nodes of nested mega services are named `outer/inner`. */
export type RunEvent =
  | { type: 'attempt-started'; node: string; attempt: number; service: string }
  | { type: 'attempt-failed'; node: string; attempt: number; error: Error }
  | { type: 'stream-started'; node: string }
  | { type: 'node-settled'; node: string; state: SettledState; why?: string };

export interface RunOptions {
  definition: MegaServiceDefinition;
  request: unknown;
  /** The request's own parameters, by flat name (see pickParameters). Default none. */
  parameters?: ParameterValues;
  run: NodeRunner;
  /** Cancels the run. */
  signal?: AbortSignal;
  /** Epoch milliseconds at which the run fails with deadline_exceeded. Default never. */
  deadline?: number;
  /** The deadline as it is now, where pieces of the answer put it off. */
  currentDeadline?: () => number;
  /** Must not throw; what it throws is dropped. */
  onEvent?: (event: RunEvent) => void;
}

/** A running mega service. */
export interface RunHandle {
  /**
   * The chunks of the output node where it streams, else its one output. Ends when the whole run has ended and
   * throws what made it fail. Leaving it early (break, return) cancels the run.
   */
  readonly stream: AsyncIterable<unknown>;
  /** The output, of a stream the collected chunks. Rejects with a MegaNestError. Never an unhandled rejection. */
  readonly result: Promise<unknown>;
  /** Resolves, never rejects, when nothing of the run is left: no node, timer or listener. */
  readonly settled: Promise<RunReceipt>;
  /** The receipt as it is now. */
  receipt(): RunReceipt;
  /** Stops every node; the result rejects with `cancelled`. Does nothing after the end. */
  cancel(): void;
}
