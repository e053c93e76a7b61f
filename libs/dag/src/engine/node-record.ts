import type { NodeDefinition } from '../definition/types.js';
import { AbortScope } from './abort-scope.js';
import type { ChunkBuffer } from './chunk-buffer.js';
import type { NodeReceipt, NodeState, RunReceipt, SettledState } from './receipt.js';

/** `condition` cuts the node and what depends only on it; `verdict` everything below. */
export type Cut = 'condition' | 'verdict';

/** One node of one run: what it waits for, what it gave, what its receipt says. */
export class NodeRecord {
  /** Direct predecessors that have not settled (or, where it reads a stream, not begun to stream). */
  readonly waitingFor: Set<string>;
  /** Aborts this node alone. */
  readonly scope = new AbortScope();
  state: NodeState = 'waiting';
  /** Undefined: it gave none (yet), or was skipped without a stand-in. */
  output?: { value: unknown };
  /** The chunks, once it streams. */
  stream?: ChunkBuffer;
  /** It should have streamed and gave a finished output; its stream holds that as the only chunk. */
  gaveWhole = false;
  /** Set when what lies below it is skipped too. */
  cut?: Cut;
  attempts = 0;
  from?: 'fallback' | 'hedge';
  nestedReceipt?: () => RunReceipt;
  private why?: string;
  private startedAt?: number;
  private startTime = 0;
  private runMs?: number;
  private firstChunkMs?: number;
  private details?: Record<string, unknown>;

  constructor(readonly node: NodeDefinition) {
    this.waitingFor = new Set(node.after);
  }

  get settled(): boolean {
    return this.state !== 'waiting' && this.state !== 'running';
  }

  start(): void {
    this.state = 'running';
    this.startedAt = Date.now();
    this.startTime = performance.now();
  }

  markFirstChunk(): void {
    if (this.startedAt !== undefined) this.firstChunkMs = performance.now() - this.startTime;
  }

  settle(state: SettledState, why?: string): void {
    this.state = state;
    this.why = why;
    if (this.startedAt !== undefined) this.runMs = performance.now() - this.startTime;
  }

  report(details: Readonly<Record<string, unknown>>): void {
    this.details = { ...this.details, ...details };
  }

  receipt(): NodeReceipt {
    const { why, startedAt, firstChunkMs, from, attempts, state, node } = this;
    const { queuedMs, ...details } = this.details ?? {};
    const sofar = startedAt === undefined ? 0 : performance.now() - this.startTime;
    return {
      node: node.name,
      service: node.target.service,
      state,
      ...(why !== undefined && { why }),
      ...(startedAt !== undefined && { startedAt }),
      queuedMs: typeof queuedMs === 'number' ? queuedMs : 0,
      runMs: this.runMs ?? sofar,
      ...(firstChunkMs !== undefined && { firstChunkMs }),
      attempts,
      ...(from && { from }),
      ...(Object.keys(details).length > 0 && { details }),
      ...(this.nestedReceipt && { nested: this.nestedReceipt() }),
    };
  }
}
